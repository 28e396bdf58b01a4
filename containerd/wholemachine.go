package containerd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"golang.org/x/sys/unix"

	"deployster/containerd/sandbox"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner"
)

// over returns the end of a first process that has ended or is gone. What it started may live on
// where the container has the process numbers of the machine: the program is over only when all
// of that has ended too. Until then its end is unknown, and it may still run.
func (c *container) over(ctx context.Context, e exit) exit {
	if !c.spec.Settings.WholeMachine {
		return e
	}
	if err := sandbox.End(ctx, c.id, killLimit); err != nil {
		return exit{err: errors.Join(e.err, err)}
	}
	return e
}

// lost returns the end that the shim has recorded, or records within the limit; otherwise err, for
// which the end cannot be awaited. The first process is gone if the end is recorded, or if there
// is no such task any more.
func (c *container) lost(ctx context.Context, err error, limit time.Duration) exit {
	e := c.written(ctx, err, limit)
	if e.err == nil || errdefs.IsNotFound(err) {
		return c.over(ctx, e)
	}
	return e
}

// watchLeft watches a first process that has the process numbers of the machine, and notes at its
// end what it has left: what supervises the container ends that.
func (c *container) watchLeft() {
	if !c.spec.Settings.WholeMachine || c.worker {
		return
	}
	first, err := c.open(int(c.pid))
	if err != nil {
		return
	}
	c.left = make(chan []string, 1)
	go func() {
		defer unix.Close(first)
		for {
			if _, err := unix.Poll([]unix.PollFd{{Fd: int32(first), Events: unix.POLLIN}}, -1); err != unix.EINTR {
				break
			}
		}
		c.left <- commands(sandbox.Left(c.id))
	}()
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

// noteLeft writes to the log which processes ended with the container.
func (c *container) noteLeft(res *runner.Result) {
	var names []string
	select {
	case names = <-c.left: // never, where nobody watches
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
	if c.spec.Stderr != nil {
		_, _ = c.spec.Stderr.Write(note) // a log that cannot be written changes no end
	}
}
