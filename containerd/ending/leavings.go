package ending

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"deployster/containerd/sandbox"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner"
)

// Leavings are what the first process of a container has left running at its end. nil = nobody
// watches that.
type Leavings chan []string

// WatchLeavings watches a first process that has the process numbers of the machine, and notes at
// its end what it has left: what supervises the container ends that, and may be the first of both
// on a busy machine: nothing is noted then.
func WatchLeavings(id string, pid int) Leavings {
	first, err := sandbox.OpenProcess(id, pid)
	if err != nil {
		return nil
	}
	left := make(Leavings, 1)
	go func() {
		defer unix.Close(first)
		for {
			if _, err := unix.Poll([]unix.PollFd{{Fd: int32(first), Events: unix.POLLIN}}, -1); err != unix.EINTR {
				break
			}
		}
		left <- commands(sandbox.Left(id))
	}()
	return left
}

// commands returns the names of processes, as ps shows them.
func commands(pids []int) (names []string) {
	for _, pid := range pids {
		if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil {
			names = append(names, strings.TrimSpace(string(name)))
		}
	}
	return names
}

// Note writes to the log which processes ended with the container.
func (l Leavings) Note(s runner.Spec, res *runner.Result) {
	var names []string
	select {
	case names = <-l: // never, where nobody watches
	default:
	}
	if len(names) == 0 {
		return
	}
	note := fmt.Appendf(nil, "What was left running was ended with the container: %s. A unit of the machine's systemd outlives it.\n",
		words.List(names, 5))
	if len(res.Stderr) > 0 && res.Stderr[len(res.Stderr)-1] != '\n' {
		note = append([]byte("\n"), note...)
	}
	res.Stderr = append(res.Stderr, note...)
	if s.Stderr != nil {
		_, _ = s.Stderr.Write(note) // a log that cannot be written changes no end
	}
}
