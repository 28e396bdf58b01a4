package rootless

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"deployster/internal/base/proc"
)

// servers are the names of what runs in a namespace for longer than a command.
var servers = []string{"deployster-containerd", "containerd-shim-runc-v2"}

// survivor returns a process in the namespace of a holder that was killed, whose files are below a directory;
// 0 = there is none. What runs in that namespace is out of reach from another one.
func survivor(dir string) int {
	mine, err := os.Readlink("/proc/self/ns/user")
	files, err2 := proc.Files("cmdline")
	if errors.Join(err, err2) != nil {
		return 0
	}
	for _, file := range files {
		line, _ := os.ReadFile(file) // it may have ended
		name, args, _ := strings.Cut(string(line), "\x00")
		if !slices.Contains(servers, filepath.Base(name)) || !strings.Contains(args, dir+"/") || !own(filepath.Dir(file)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		theirs, err2 := os.Readlink(filepath.Join(filepath.Dir(file), "ns", "user"))
		if errors.Join(err, err2) == nil && theirs != mine {
			return pid
		}
	}
	return 0
}

// holdAgain starts a holder in the namespace of a survivor, and returns it once it has entered.
func (m mapping) holdAgain(dir string, held *os.File, survivor int) (pid int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	c := &exec.Cmd{Path: m.nsenter, Args: append(entering(survivor), self), Dir: "/", Env: []string{marker + "=hold:" + dir},
		ExtraFiles: []*os.File{nil, held}, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	if err := c.Start(); err != nil {
		return 0, err
	}
	pid = c.Process.Pid
	if err := held.Truncate(0); err != nil {
		return 0, err
	}
	if _, err := fmt.Fprintf(held, "%d\n", pid); err != nil {
		return 0, err
	}
	want, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", survivor))
	for end := time.Now().Add(enterLimit); err == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
		if at, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid)); err == nil && at == want {
			return pid, nil
		}
	}
	return survivor, err
}

// enterLimit is how long nsenter may take.
const enterLimit = 5 * time.Second

// entering returns the arguments of nsenter before those of the program.
func entering(pid int) []string {
	return []string{"nsenter", "--user", "--preserve-credentials", "--mount", "--target", strconv.Itoa(pid)}
}
