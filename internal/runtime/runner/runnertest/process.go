package runnertest

import (
	"context"
	"fmt"
	"io"
	"sync"

	"deployster/internal/runtime/runner"
)

// Launch implements runner.Launcher.
func (f *Fake) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	f.mu.Lock()
	program := f.programs[s.Digest]
	f.calls = append(f.calls, s)
	f.mu.Unlock()
	if program == nil {
		return nil, fmt.Errorf("%s: %w", s.Digest, runner.ErrNoImage)
	}
	p := &process{ended: s.Ended, asked: map[int64]string{}, exited: make(chan int, 1), stderr: newStream(s.Stderr, s.KeepLog, false)}
	term, kill := context.WithCancel(context.WithoutCancel(ctx))
	p.inR, p.inW = io.Pipe()
	p.outR, p.outW = io.Pipe()
	p.term = kill
	p.kill = func() {
		kill()
		p.end(137)
	}
	go func() {
		defer kill() // the goroutines of the program end with it
		p.end(program(term, s, p.inR, p.outW, p.stderr))
	}()
	return p, nil
}

// process is a launched program.
type process struct {
	inR    *io.PipeReader
	inW    *io.PipeWriter
	outR   *io.PipeReader
	outW   *io.PipeWriter
	stderr *stream
	exited chan int
	term   func()
	kill   func()
	ended  func(runner.Result, error) error

	mu    sync.Mutex
	asked map[int64]string // IDs of the actions that are not settled
}

// end ends the process. The program and kill both call it; only the first exit code counts.
func (p *process) end(code int) {
	select {
	case p.exited <- code:
	default:
	}
	_ = p.inR.Close()  // never fails
	_ = p.outW.Close() // never fails
}

func (p *process) Stdin() io.WriteCloser { return p.inW }
func (p *process) Stdout() io.Reader     { return p.outR }
func (p *process) Terminate()            { p.term() }
func (p *process) Kill()                 { p.kill() }

func (p *process) Wait() (runner.Result, error) {
	code := <-p.exited
	res := runner.Result{ExitCode: code, Stderr: p.stderr.finish()}
	if p.ended != nil {
		return res, p.ended(res, nil)
	}
	return res, nil
}

func (p *process) Asked(request int64, s runner.Spec) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, there := p.asked[request]; there || s.ID == "" {
		return fmt.Errorf("the request %d of %q has a number that is in use, or no ID", request, s.ID)
	}
	p.asked[request] = s.ID
	return nil
}

func (p *process) Settled(request int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, there := p.asked[request]; !there {
		return fmt.Errorf("the request %d is not open", request)
	}
	delete(p.asked, request)
	return nil
}

func (p *process) Release(int64) {}

// Before returns 0, and Keep false: no program outlives a test.
func (p *process) Before() int64          { return 0 }
func (p *process) Keep(int64, int64) bool { return false }
