package programs

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"deployster/internal/runtime/runner"
)

// Launch implements runner.Launcher.
func (r *Runner) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	if ctx.Err() != nil {
		return nil, cancelled(ctx, s)
	}
	kills, started := r.oomKills(), time.Now()
	c, pipes, err := r.begin(runner.Spec{Name: s.Name, Digest: s.Digest, Entrypoint: s.Entrypoint, Args: s.Args, Cwd: s.Cwd,
		Settings: s.Settings})
	if err != nil {
		return nil, err
	}
	p := &process{runner: r, child: c, stdin: pipes.own[0], asked: map[int64]string{}, gone: make(chan struct{})}
	var write *io.PipeWriter
	p.stdout, write = io.Pipe()
	errs := newSink(true, s.KeepLog, 0, s.Stderr)
	ended := make(chan struct{})
	var drained sync.WaitGroup
	drained.Go(func() {
		drain(write, pipes.own[1], ended)
		_ = write.Close() // never fails
	})
	drained.Go(func() { drain(errs, pipes.own[2], ended) })
	go func() {
		<-c.done
		killAll(c.pid)
		close(ended)
		drained.Wait()
		pipes.close(pipes.own)
		p.result = runner.Result{ExitCode: c.code(), Stderr: errs.bytes(), OOM: r.oomKills() > kills, Duration: time.Since(started)}
		if s.Ended != nil {
			p.err = s.Ended(p.result, nil)
		}
		close(p.gone)
	}()
	return p, nil
}

// process is a launched program. It implements runner.Process.
type process struct {
	runner *Runner
	child  *child
	stdin  *os.File
	stdout *io.PipeReader
	gone   chan struct{} // closed when all is read; result and err are set before
	result runner.Result
	err    error

	mu    sync.Mutex
	asked map[int64]string // the actions that are not settled, by request
}

// Stdin implements runner.Process.
func (p *process) Stdin() io.WriteCloser { return p.stdin }

// Stdout implements runner.Process.
func (p *process) Stdout() io.Reader { return p.stdout }

// Asked implements runner.Process.
func (p *process) Asked(request int64, s runner.Spec) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, open := p.asked[request]; open || s.ID == "" {
		return fmt.Errorf("the request %d of %q has a number that is in use, or no ID", request, s.ID)
	}
	if err := p.runner.note(s); err != nil {
		return err
	}
	p.asked[request] = s.ID
	return nil
}

// Settled implements runner.Process.
func (p *process) Settled(request int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, open := p.asked[request]; !open {
		return fmt.Errorf("the request %d is not open", request)
	}
	delete(p.asked, request)
	return nil
}

// Release implements runner.Process: what was read is kept nowhere.
func (*process) Release(int64) {}

// Before implements runner.Process.
func (*process) Before() int64 { return 0 }

// Keep implements runner.Process: a program lives as long as the container.
func (*process) Keep(int64, int64) bool { return false }

// Wait implements runner.Process.
func (p *process) Wait() (runner.Result, error) {
	<-p.gone
	return p.result, p.err
}

// Terminate implements runner.Process.
func (p *process) Terminate() { p.runner.reaper.signal(p.child, syscall.SIGTERM) }

// Kill implements runner.Process.
func (p *process) Kill() {
	select {
	case <-p.child.done:
	default:
		killAll(p.child.pid)
	}
}
