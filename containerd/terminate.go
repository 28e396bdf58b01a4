package containerd

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd/sandbox"
)

const othersEvery = 20 * time.Millisecond // between looks whether the other processes have ended

// terminate asks a program in a container to end. The kernel keeps SIGTERM from the first
// process of a container unless that handles it, and a plain shell does not:
// such a one would just go on until it is killed. So it gets what any other
// program gets: its end. It is stopped first, so that a script does not go on
// with its next line, and the others, who may have something to put in order,
// get SIGTERM and the grace time; alone is closed when they are gone, and what
// is left can be killed. For a program that handles SIGTERM, or ignores it on
// purpose, alone is nil: it is asked, as docker does, and its children are its
// own affair.
func terminate(ctx context.Context, c *container, program uint32, ask func()) (alone <-chan struct{}) {
	first, err := c.open(int(program))
	if err != nil || sandbox.HandlesSignal(int(program), unix.SIGTERM) {
		ask()
		return nil
	}
	defer unix.Close(first)
	if unix.PidfdSendSignal(first, unix.SIGSTOP, nil, 0) != nil {
		return nil // it has just ended
	}
	for _, pid := range c.others(ctx, program) {
		if fd, err := c.open(pid); err == nil {
			_ = unix.PidfdSendSignal(fd, unix.SIGTERM, nil, 0) // it may have ended
			_ = unix.Close(fd)
		}
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for len(c.others(ctx, program)) > 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(othersEvery):
			}
		}
	}()
	return gone
}
