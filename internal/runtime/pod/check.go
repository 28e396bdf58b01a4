package pod

import (
	"encoding/json"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"deployster/internal/runtime/remote"
)

// Checked is what Check prints.
type Checked struct {
	Agent  string `json:"agent"` // remote.AgentVersion
	Arch   string `json:"arch"`
	Kernel string `json:"kernel"`
	OOM    bool   `json:"oom"`   // it is seen that memory has run out
	First  bool   `json:"first"` // the agent is the first process: no other container shares its processes
	UID    int    `json:"uid"`
}

// Check prints what this container allows its agent.
func Check(o Options, out io.Writer) error {
	c := Checked{Agent: remote.AgentVersion, Arch: runtime.GOARCH, UID: os.Geteuid()}
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return err
	}
	c.Kernel = unix.ByteSliceToString(name.Release[:])
	_, err := os.ReadFile(o.Events)
	c.OOM = err == nil
	c.First = os.Getpid() == 1 || started(1)
	return json.NewEncoder(out).Encode(c)
}

// started reports whether a process was started from this program.
func started(pid int) bool {
	name, err := os.ReadFile("/proc/1/comm")
	return pid == 1 && err == nil && string(name) == "deployster-pod\n"
}
