package containerd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd/agent"
	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
	"deployster/containerd/supervise"
)

// agentProgram is a program that the agent of a shared container starts.
type agentProgram struct {
	w      *sharedContainer
	argv   []string
	inside uint32 // its process number in the container
	pid    uint32 // its process number on this host; 0 = unknown so far
}

// errRefused reports that a program was not started, and that its container is unchanged.
var errRefused = errors.New("the container that it shares could not start its program")

// request requests the start of the program with its files. The program has certainly not begun if the error wraps
// errRefused or agentconn.ErrUnsent.
func (f *agentProgram) request(given ...int) error {
	request, err := agent.EncodeRequest(f.argv)
	if err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	if err := f.w.agent.Request(request, given...); err != nil {
		return err
	}
	said, err := f.w.agent.Reply()
	switch {
	case err != nil:
		return err
	case said.Kind == agent.Failed:
		return fmt.Errorf("%w: %w", errRefused, unix.Errno(said.Value))
	case said.Kind != agent.Started:
		return errors.New("its agent sent an unexpected message")
	}
	f.inside = said.Value
	return f.w.agent.SetDeadline(time.Time{})
}

// queryProgram is the program of a query. Its standard files are pipes, like those of a container's own first
// process; what it writes there is copied to files, as for a container of its own.
type queryProgram struct {
	agentProgram
	input  []byte
	files  *runfiles.Files
	stdin  *os.File
	copies [2]copying
	wg     sync.WaitGroup
}

// copying copies what a program prints from a pipe to a file.
type copying struct {
	from *os.File
	to   *os.File
	err  error
}

// start implements program.
func (f *queryProgram) start(context.Context) error {
	given, err := f.open()
	defer func() {
		for _, fd := range given {
			_ = unix.Close(fd) // the agent has its own copies
		}
	}()
	if err == nil {
		err = f.request(given...)
	}
	if err != nil {
		return err
	}
	f.wg.Go(func() {
		_, _ = f.stdin.Write(f.input) // the program need not read it
		_ = f.stdin.Close()
	})
	for i := range f.copies {
		c := &f.copies[i]
		f.wg.Go(func() { c.err = c.run() })
	}
	return nil
}

// wait implements program.
func (f *agentProgram) wait(context.Context) <-chan supervise.Exit {
	ended := make(chan supervise.Exit, 1)
	go func() { ended <- f.w.awaitEnd() }()
	return ended
}

// Signal implements program. SIGKILL kills the whole container.
func (f *agentProgram) Signal(ctx context.Context, sig unix.Signal) (alone <-chan struct{}) {
	if sig == unix.SIGKILL {
		f.w.killAll()
		return nil
	}
	f.pid = f.w.find(f.inside)
	return f.w.container.group().Terminate(ctx, f.pid, func() {
		if fd, err := f.w.container.open(int(f.pid)); err == nil {
			_ = unix.PidfdSendSignal(fd, sig, nil, 0)
			_ = unix.Close(fd)
		}
	})
}

// Delete implements program: it ends everything that the query left running, and makes
// sure that its whole output is in the files.
func (f *queryProgram) Delete(context.Context, int, bool) error {
	f.w.killLeftovers()
	return f.drain()
}

// awaitEnd returns how the program ended. The loss of the agent is an exit by SIGKILL
// only if this client killed it, and with it everything in the container.
func (w *sharedContainer) awaitEnd() supervise.Exit {
	said, err := w.agent.Reply()
	switch status := syscall.WaitStatus(said.Value); {
	case err != nil && w.killed.Load() && w.agent.AwaitEnd(supervise.KillLimit):
		return supervise.Exit{Code: agent.ExitCode(syscall.WaitStatus(unix.SIGKILL))}
	case err != nil:
		return supervise.Exit{Err: fmt.Errorf("the container that it shared was lost: %w", err)}
	case said.Kind == agent.Ended && (status.Exited() || status.Signaled()):
		return supervise.Exit{Code: agent.ExitCode(status)}
	}
	return supervise.Exit{Err: errors.New("the agent of the container that it shared sent an unexpected message")}
}

// open creates the pipes and returns the ends for the program. They belong to its user,
// who may open them again by their names in /proc.
func (f *queryProgram) open() (given []int, err error) {
	uid, gid := f.w.container.box.IDs.Owner(f.w.container.box.Spec.Process.User)
	for i, ours := range []**os.File{&f.stdin, &f.copies[0].from, &f.copies[1].from} {
		var ends [2]int
		if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
			return given, err
		}
		mine, his := ends[0], ends[1]
		if i == 0 {
			mine, his = his, mine
		}
		given = append(given, his)
		if err := errors.Join(unix.SetNonblock(mine, true), unix.Fchown(his, int(uid), int(gid))); err != nil {
			return given, errors.Join(err, unix.Close(mine))
		}
		*ours = os.NewFile(uintptr(mine), "pipe")
	}
	f.copies[0].to, f.copies[1].to = f.files.Stdout.File, f.files.Stderr.File
	return given, nil
}

// run copies until the end of the pipe. If writing fails, it continues reading, so that the
// program does not notice.
func (c *copying) run() error {
	_, err := io.Copy(c.to, c.from)
	if err != nil {
		_, _ = io.Copy(io.Discard, c.from) // the first error counts
	}
	return err
}

// drain waits until all output of the program is in its files. The output ends when no
// process in the container has an end of the pipes any more.
func (f *queryProgram) drain() error {
	_ = f.stdin.Close() // its reader has ended
	all := make(chan struct{})
	go func() {
		f.wg.Wait()
		close(all)
	}()
	for range 2 {
		select {
		case <-all:
			return errors.Join(f.copies[0].err, f.copies[1].err)
		case <-time.After(drainLimit):
			f.w.killAll()
		}
	}
	return errors.New("another process has kept its outputs open")
}

// drainLimit is how long drain waits for the rest of an output.
const drainLimit = 10 * time.Second

// close closes this end of the standard files, if they were not drained.
func (f *queryProgram) close() {
	for _, file := range []*os.File{f.stdin, f.copies[0].from, f.copies[1].from} {
		if file != nil {
			_ = file.Close() // it is a pipe
		}
	}
	f.wg.Wait()
}

// find returns the number on this host of a process of a container, 0 = there is no such
// process.
func (w *sharedContainer) find(inside uint32) uint32 {
	procs, _ := sandbox.Processes(w.container.id, int(w.container.pid)) // nil on failure
	for _, pid := range procs {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // empty if it has ended
		for line := range strings.Lines(string(status)) {
			// The numbers of the process, from the outermost namespace to its own.
			if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
				if all := strings.Fields(numbers); len(all) > 0 && all[len(all)-1] == strconv.FormatUint(uint64(inside), 10) {
					return uint32(pid)
				}
			}
		}
	}
	return 0
}
