package containerd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd/agent"
	"deployster/internal/runner"
)

// forked is a program that the agent of a container has started. Its standard
// files are pipes, as those of a container's own first process; what comes out
// of them goes to files, as there.
type forked struct {
	inside uint32 // its process number in the container
	stdin  *os.File
	copies [2]copying
	wg     sync.WaitGroup
}

// copying takes what a program prints from a pipe to a file.
type copying struct {
	from *os.File
	to   *os.File
	err  error
}

// errRefused: the program of a query was not started, and its container is as it
// was.
var errRefused = errors.New("the container that it shares could not start its program")

// makeBuffers makes what the outputs of programs are copied with.
func (w *warm) makeBuffers() {
	for i := range w.buffers {
		w.buffers[i] = make([]byte, 32<<10)
	}
}

// newOutputs makes the files of a run that is given its input otherwise.
func (r *Runtime) newOutputs(id string, s runner.Spec) (*stdio, error) {
	return r.newFiles(id, func(f *stdio) (err error) {
		if f.stdout, err = newOutput(filepath.Join(f.dir, stdoutFile), os.O_RDWR, s.Stdout); err != nil {
			return err
		}
		f.stderr, err = newOutput(filepath.Join(f.dir, stderrFile), os.O_RDWR, s.Stderr)
		return err
	})
}

// fork has the container's agent start the program of a query.
func (w *warm) fork(u *run, argv []string) (ended <-chan exit, err error) {
	request, err := agent.EncodeRequest(argv)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	f := &forked{}
	given, err := f.open(u)
	defer func() {
		for _, fd := range given {
			_ = unix.Close(fd) // the agent has its own
		}
		if err != nil {
			f.close()
		}
	}()
	if err != nil {
		return nil, err
	}
	if err := w.agent.request(request, given...); err != nil {
		return nil, err
	}
	said, err := w.agent.reply()
	switch {
	case err != nil:
		return nil, err
	case said.Kind == agent.Failed:
		return nil, fmt.Errorf("%w: %w", errRefused, unix.Errno(said.Value))
	case said.Kind != agent.Started:
		return nil, errors.New("its agent said something out of turn")
	}
	if err := w.agent.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	f.inside, u.forked = said.Value, f
	f.begin(u.s.Stdin, w.buffers[:])
	c := make(chan exit, 1)
	go func() { c <- w.awaitEnd() }()
	return c, nil
}

// awaitEnd gives how the program ended. That the agent is gone says so only when
// it was killed here, and all others with it.
func (w *warm) awaitEnd() exit {
	const signalled = 128 // what shells and containerd add to a signal's number
	said, err := w.agent.reply()
	switch status := unix.WaitStatus(said.Value); {
	case err != nil && w.killed.Load():
		return exit{code: signalled + int(unix.SIGKILL)}
	case err != nil:
		return exit{err: fmt.Errorf("the container that it shared was lost: %w", err)}
	case said.Kind == agent.Ended && status.Exited():
		return exit{code: status.ExitStatus()}
	case said.Kind == agent.Ended && status.Signaled():
		return exit{code: signalled + int(status.Signal())}
	}
	return exit{err: errors.New("the agent of the container that it shared said something out of turn")}
}

// open makes the pipes, and gives the ends for the program, which belong to its
// user, as he may open them again by their names in /proc.
func (f *forked) open(u *run) (given []int, err error) {
	uid, gid := u.warm.box.ids.owner(u.warm.box.spec.Process.User)
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
	f.copies[0].to, f.copies[1].to = u.io.stdout.file, u.io.stderr.file
	return given, nil
}

// begin hands on what goes in and what comes out.
func (f *forked) begin(stdin []byte, buffers [][]byte) {
	f.wg.Go(func() {
		_, _ = f.stdin.Write(stdin) // the program need not read it
		_ = f.stdin.Close()
	})
	for i := range f.copies {
		c := &f.copies[i]
		f.wg.Go(func() { c.err = c.run(buffers[i]) })
	}
}

// run copies to the end. When there is no room for it, the program is not to
// notice.
func (c *copying) run(buffer []byte) error {
	var failed error
	for {
		n, err := c.from.Read(buffer)
		if n > 0 && failed == nil {
			_, failed = c.to.Write(buffer[:n])
		}
		switch {
		case errors.Is(err, io.EOF):
			return failed
		case err != nil:
			return errors.Join(failed, err)
		}
	}
}

// drain waits until all that the program has printed is in its files. The end of
// it is when nobody in the container has an end of the pipes any more.
func (f *forked) drain(w *warm) error {
	_ = f.stdin.Close() // whoever should have read it has ended
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
			w.killed.Store(true)
			w.agent.kill()
		}
	}
	return errors.New("somebody has kept its outputs open")
}

// drainLimit is how long the rest of an output may take to come.
const drainLimit = 10 * time.Second

// close gives up this end of the standard files, if it was not drained.
func (f *forked) close() {
	if f == nil {
		return // it was never started
	}
	for _, file := range []*os.File{f.stdin, f.copies[0].from, f.copies[1].from} {
		if file != nil {
			_ = file.Close() // it is a pipe
		}
	}
	f.wg.Wait()
}

// find gives the number on this host of a process of a container, 0 = it is not
// there.
func (w *warm) find(inside uint32) uint32 {
	procs, _ := w.processes() // none
	for _, pid := range procs {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it has ended
		for line := range strings.Lines(string(status)) {
			// Its numbers from the outermost namespace to its own.
			if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
				if all := strings.Fields(numbers); len(all) > 0 && all[len(all)-1] == strconv.FormatUint(uint64(inside), 10) {
					return uint32(pid)
				}
			}
		}
	}
	return 0
}
