package supervise

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd/layout"
	"deployster/containerd/sandbox"
)

const othersEvery = 20 * time.Millisecond // interval at which Terminate checks whether the other processes have ended

// Group is the processes of a container.
type Group struct {
	Container string // its id
	// Others returns the living ones except the first one and but.
	Others func(ctx context.Context, but uint32) (pids []int)
}

// Terminate signals a program in a container to end. The kernel does not deliver SIGTERM to
// the first process of a container unless that handles it, and a plain shell does not
// handle it: it would just continue until it is killed. So Terminate ends such a program as
// SIGTERM ends any other. It stops the program first, so that a script does not continue
// with its next line; the other processes, which may have to clean up, get SIGTERM and
// the grace time; alone is closed when they have ended, and the rest can be killed. For a
// program that handles SIGTERM, or ignores it on purpose, alone is nil: it gets SIGTERM,
// as from docker, and its children are its own responsibility.
func (g Group) Terminate(ctx context.Context, program uint32, ask func()) (alone <-chan struct{}) {
	first, err := sandbox.OpenProcess(g.Container, int(program))
	if err != nil || sandbox.HandlesSignal(int(program), unix.SIGTERM) {
		ask()
		return nil
	}
	defer unix.Close(first)
	if unix.PidfdSendSignal(first, unix.SIGSTOP, nil, 0) != nil {
		return nil // it has just ended
	}
	for _, pid := range g.Others(ctx, program) {
		if fd, err := sandbox.OpenProcess(g.Container, pid); err == nil {
			_ = unix.PidfdSendSignal(fd, unix.SIGTERM, nil, 0) // it may have ended
			_ = unix.Close(fd)
		}
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = layout.Poll(ctx, othersEvery, func() (bool, error) { return len(g.Others(ctx, program)) == 0, nil }) // or ctx is done
	}()
	return gone
}
