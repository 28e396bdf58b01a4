package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"deployster/internal/base/proc"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/frame"
)

// cutSSH is the name by which this program is an ssh that breaks: it is called with a
// directory, and what ssh would be called with.
const cutSSH = "deployster-cut-ssh"

// The files in the directory.
const (
	armedFile  = "armed"  // the cut that the next connection takes for itself
	takenFile  = "taken"  // it was taken
	hitFile    = "hit"    // it was made
	goneFile   = "gone"   // as long as it is there, nothing can be reached
	framesFile = "frames" // how many there were, in a connection that nothing has cut
)

// What a cut ends.
const (
	cutConnection = "the connection" // ssh
	cutFarEnd     = "the far end"    // the process on the host
	cutClient     = "the client"     // the command, as if its machine were off
	cutHost       = "the host"       // ssh, and from now on nothing can be reached
	cutNetwork    = "the network"    // nothing comes through any more, and nobody is told
)

// A cut ends something before a message comes through.
type cut struct {
	What string
	Up   bool   // a message to the host, else one from it
	At   int    // which, from 1 on; 0 = none: they are counted
	Data string // the data directory of the host
	kind frame.Kind
}

func (c cut) String() string {
	return fmt.Sprintf("%s before message %d %s", c.What, c.At, map[bool]string{true: "to the host", false: "from the host"}[c.Up])
}

// frames are the kinds of the messages that went each way.
type frames struct{ Up, Down []frame.Kind }

// cuttingSSH is the program.
func cuttingSSH(dir string, args []string) int {
	if exists(filepath.Join(dir, goneFile)) {
		fmt.Fprintln(os.Stderr, "ssh: connect to host 127.0.0.1 port 22: No route to host")
		return 255
	}
	c := &cutter{dir: dir, cmd: exec.Command("ssh", args...)}
	c.up.over, c.down.over = make(chan struct{}), make(chan struct{})
	c.cmd.Stderr = os.Stderr
	if os.Rename(filepath.Join(dir, armedFile), filepath.Join(dir, takenFile)) == nil {
		text, err := os.ReadFile(filepath.Join(dir, takenFile))
		if err = errors.Join(err, json.Unmarshal(text, &c.cut)); err != nil {
			panic(err)
		}
		c.counts = true
	}
	in, err1 := c.cmd.StdinPipe()
	out, err2 := c.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, c.cmd.Start()); err != nil {
		panic(err)
	}
	var down sync.WaitGroup
	down.Go(func() {
		from := bufio.NewReader(out)
		for line := ""; c.counts && line != remote.Ready; {
			text, err := from.ReadString('\n')
			fmt.Print(text)
			if line = strings.TrimSpace(text); err != nil {
				break
			}
		}
		c.carry(os.Stdout, from, false)
	})
	go func() {
		c.carry(in, os.Stdin, true)
		_ = in.Close() // the host sees that the client is gone
	}()
	down.Wait()
	if c.counts && c.cut.At == 0 {
		<-c.up.over
		text, err := json.Marshal(frames{c.up.kinds, c.down.kinds})
		if err = errors.Join(err, os.WriteFile(filepath.Join(dir, framesFile), text, 0o600)); err != nil {
			panic(err)
		}
	}
	_ = c.cmd.Wait()
	return c.cmd.ProcessState.ExitCode()
}

// cutter is one connection.
type cutter struct {
	dir    string
	cmd    *exec.Cmd
	cut    cut
	counts bool // this is the connection that is cut, or whose messages are counted

	up, down direction
}

// direction are the messages that go one way.
type direction struct {
	kinds []frame.Kind
	over  chan struct{} // closed when there are no more
}

// carry brings messages from one side to the other, until the one that is not to come
// through.
func (c *cutter) carry(to io.Writer, from io.Reader, up bool) {
	d := &c.down
	if up {
		d = &c.up
	}
	defer close(d.over)
	if !c.counts {
		_, _ = io.Copy(to, from) // either end may go
		return
	}
	r, w := frame.NewReader(from), frame.NewWriter(to)
	for {
		m, err := r.Read()
		if err != nil {
			return
		}
		if ping := m.Call == 0 && len(m.Body) == 0; !ping { // how many there are is chance
			d.kinds = append(d.kinds, m.Kind)
			if len(d.kinds) == c.cut.At && up == c.cut.Up {
				c.now()
			}
		}
		if errors.Join(w.Write(m), w.Flush()) != nil {
			return
		}
	}
}

// now makes the cut. Where it returns, the message may still come through.
func (c *cutter) now() {
	if err := os.WriteFile(filepath.Join(c.dir, hitFile), nil, 0o600); err != nil {
		panic(err)
	}
	switch c.cut.What {
	case cutHost:
		if err := os.WriteFile(filepath.Join(c.dir, goneFile), nil, 0o600); err != nil {
			panic(err)
		}
		fallthrough
	case cutConnection:
		_ = c.cmd.Process.Kill()
		os.Exit(255)
	case cutFarEnd:
		killFarEnd(c.cut.Data)
	case cutClient:
		_ = syscall.Kill(os.Getppid(), syscall.SIGKILL)
		_ = c.cmd.Process.Kill()
		os.Exit(255)
	case cutNetwork:
		select {}
	}
}

// killFarEnd ends the process on a host that acts there, if there is one.
func killFarEnd(data string) {
	fences, _ := filepath.Glob(filepath.Join(data, "fence", "*"))
	for _, file := range fences {
		var f struct {
			PID     int
			Started string
		}
		text, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(text, &f) == nil && proc.Of(f.PID).Since() == f.Started && f.Started != "" {
			_ = syscall.Kill(f.PID, syscall.SIGKILL)
		}
	}
}
