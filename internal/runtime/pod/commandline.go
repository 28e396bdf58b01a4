package pod

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/remote"
)

// usage is printed for a command line that is not valid.
const usage = `usage: deployster-pod MODE [OPTION...]
  copy DIR      copy this program into DIR
  serve         run programs for clients, as the first process of a container
  talk          connect stdin and stdout to serve
  check         report what the container allows, in JSON
  receive HASH DIR   unpack the files of an artifact into DIR/files, and end
deployster makes the Pods that run it: see docs/kubernetes.md.
`

// errUsage reports a command line that is not valid.
var errUsage = errors.New("usage")

// Main is the program with the arguments of a command line. It returns the exit code.
func Main(args []string) int {
	err := run(args)
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprint(os.Stderr, usage)
		return 2
	case err != nil:
		fmt.Fprintln(os.Stderr, "deployster-pod: "+diag.Visible(err.Error()))
		return 1
	}
	return 0
}

func run(args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet("deployster-pod "+args[0], flag.ExitOnError)
	socket := flags.String("socket", "/.deployster-run/agent", "`PATH` of the agent's socket")
	agent := flags.Int("agent", 1, "`PID` of the agent; 0: any")
	o := Options{Timing: remote.DefaultTiming(), Log: os.Stdout}
	flags.StringVar(&o.Message, "message", "/dev/termination-log", "`PATH` of the termination message")
	flags.StringVar(&o.Events, "events", memoryEvents("/sys/fs/cgroup"), "`PATH` of the counts of what ran out of memory")
	flags.DurationVar(&o.Stop, "stop", 10*time.Minute, "`TIME` that the Pod gets when it is deleted")
	flags.DurationVar(&o.Idle, "idle", 2*time.Minute, "`TIME` without a client until the agent ends")
	flags.DurationVar(&o.Keep, "keep", 24*time.Hour, "`TIME` for which outcomes are kept that nobody has recorded")
	flags.IntVar(&o.Workers, "workers", 1, "`N` workers at most")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	o.Socket = *socket
	switch rest := flags.Args(); {
	case args[0] == "copy" && len(rest) == 1:
		return Copy(rest[0])
	case args[0] == "serve" && len(rest) == 0:
		return Serve(o)
	case args[0] == "talk" && len(rest) == 0:
		return Talk(o.Socket, *agent, 10*time.Second, os.Stdin, os.Stdout)
	case args[0] == "check" && len(rest) == 0:
		return Check(o, os.Stdout)
	case args[0] == "receive" && len(rest) == 2:
		return Receive(o, rest[0], rest[1])
	}
	return errUsage
}

// memoryEvents returns the file with the counts of what ran out of memory: its place depends on the version of
// control groups that the node has.
func memoryEvents(cgroups string) string {
	for _, name := range []string{"memory.events", "memory/memory.oom_control"} {
		path := filepath.Join(cgroups, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return filepath.Join(cgroups, "memory.events")
}
