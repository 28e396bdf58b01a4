package containerd

import (
	"context"
	"errors"
	"io"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"golang.org/x/sys/unix"

	"deployster/containerd/failure"
	"deployster/containerd/runfiles"
	"deployster/containerd/supervise"
	"deployster/internal/runtime/runner"
)

// process is a worker: a program that gets requests while it runs.
type process struct {
	runfiles.Conversation
	outcomes runfiles.Outcomes // of earlier attempts of the same actions

	offers   chan supervise.Offer       // offers to hand it over; nil = it cannot be handed over
	handOver func(supervise.Offer) bool // hands it over, and reports whether that succeeded
	handed   bool                       // it was handed over; valid after ended
	before   int64                      // the highest request number of earlier clients

	began chan struct{}
	ended chan struct{} // closed when the worker is removed; res and err are set then
	res   runner.Result
	err   error
	kill  func()
	term  func()
}

// workerProgram is the first process of a worker's container.
type workerProgram struct {
	container *container
	process   *process
}

// start implements program. The shim has an end of stdin of its own. It must close that,
// or the program would never read the end of stdin.
func (w workerProgram) start(ctx context.Context) error {
	if err := w.container.start(ctx); err != nil {
		return err
	}
	// if it fails, it is killed in the end
	_, _ = w.container.tasks().CloseIO(ctx, &taskapi.CloseIORequest{ContainerID: w.container.id, Stdin: true})
	close(w.process.began)
	return nil
}

func (w workerProgram) wait(ctx context.Context) <-chan supervise.Exit { return w.container.wait(ctx) }

func (w workerProgram) Signal(ctx context.Context, sig unix.Signal) (alone <-chan struct{}) {
	return w.container.Signal(ctx, sig)
}

func (w workerProgram) Delete(ctx context.Context, code int, well bool) error {
	return w.container.Delete(ctx, code, well)
}

// Launch implements runner.Launcher.
func (r *Runtime) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	r.runsOpen.Add(1)
	start := time.Now()
	w, execute, err := r.newWorker(ctx, s)
	if err != nil {
		r.runsOpen.Done()
		return nil, r.orCancelled(ctx, s, err)
	}
	p := w.process
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	p.kill = func() {
		w.container.Signal(running, unix.SIGKILL)
		go func() {
			select {
			case <-p.ended:
			case <-time.After(supervise.KillLimit):
				end() // SIGKILL had no effect
			}
		}()
	}
	p.term = func() {
		alone := w.container.Signal(running, unix.SIGTERM)
		if alone == nil {
			return
		}
		select {
		case <-alone:
			p.kill()
		case <-p.ended:
		}
	}
	go func() {
		defer r.runsOpen.Done()
		defer end()
		defer close(p.ended)
		p.res, p.err = execute(running)
		p.res.Duration = time.Since(start)
		p.handed = w.container.holder == byIdlePool
		p.Close()
		w.container.releaseLock()
	}()
	select {
	case <-p.began:
		return p, nil
	case <-p.ended:
		select {
		case <-p.began: // it began before it ended
			return p, nil
		default:
		}
		if p.Tail != nil {
			p.Tail.Close() // it printed nothing
		}
		if p.err == nil {
			p.err = errors.New("it never began")
		}
		return nil, p.err
	}
}

// runFunc runs a program to its end.
type runFunc func(context.Context) (runner.Result, error)

// newWorker returns a worker, and the function that runs it: a worker that an earlier
// command has left, if there is one that can replace a new one, or a new one.
func (r *Runtime) newWorker(ctx context.Context, s runner.Spec) (w workerProgram, execute runFunc, err error) {
	image, err := r.Images.PrepareFor(r.conn.Context(ctx), s)
	if err != nil {
		return w, nil, failure.Of("Preparing the image "+s.Digest, err)
	}
	w = workerProgram{&container{r: r, spec: s, image: image, id: r.conn.NewContainerID(), worker: true}, newProcess(r)}
	if w.container.box, err = r.sandboxes.Make(w.container.id, image.Program, s); err != nil {
		return w, nil, err
	}
	if r.pools(s) {
		idle, err := w.poolable(ctx)
		if err != nil || idle != nil {
			w.container.box.Close()
		}
		if err != nil {
			return w, nil, failure.Of("Creating a container that can be kept", err)
		}
		if idle != nil {
			return *idle, idle.resume, nil
		}
	}
	return w, w.run, nil
}

// run runs a new worker.
func (w workerProgram) run(ctx context.Context) (res runner.Result, err error) {
	defer w.container.box.Close()
	if w.container.files, err = runfiles.NewConversation(w.container.r.conn.Config.RuntimeDir, w.container.id, w.container.spec,
		&w.process.Conversation); err != nil {
		return res, err
	}
	return w.container.run(ctx, w, w.process)
}

func newProcess(r *Runtime) *process {
	return &process{outcomes: r.outcomes(), began: make(chan struct{}), ended: make(chan struct{})}
}

func (p *process) Stdin() io.WriteCloser       { return p.Input }
func (p *process) Stdout() io.Reader           { return p.Tail }
func (p *process) Kill()                       { p.kill() }
func (p *process) Terminate()                  { go p.term() }
func (p *process) Release(offset int64)        { p.Tail.Release(offset) }
func (p *process) Settled(request int64) error { return p.Ledger.Settle(request) }

// Before implements runner.Process.
func (p *process) Before() int64 { return p.before }

// Asked implements runner.Process.
func (p *process) Asked(request int64, s runner.Spec) error {
	return p.Ledger.Ask(p.outcomes, request, s)
}

// Wait implements runner.Process.
func (p *process) Wait() (runner.Result, error) {
	<-p.ended
	p.Tail.Close()
	return p.res, p.err
}
