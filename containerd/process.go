package containerd

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"golang.org/x/sys/unix"

	"deployster/internal/runner"
)

// process is a program that is spoken to while it runs. Its stdin is a FIFO,
// which ends when this client does, however that ends. Its stdout is a file, and
// beside it lies what actions it was asked for: so their ends can be found out
// by others.
type process struct {
	stdin    *os.File
	said     *said
	ledger   *ledger
	outcomes outcomes // of earlier tries of the same actions

	offers chan offer // to hand it over; nil = it cannot be
	handed bool       // it was; after ended
	before int64      // the highest number of a request that earlier clients made

	began chan struct{}
	ended chan struct{} // closed when nothing of it is left; res and err are set then
	res   runner.Result
	err   error
	kill  func()
}

// Launch implements runner.Launcher.
func (r *Runtime) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	r.runsOpen.Add(1)
	start := time.Now()
	image, err := r.prepareFor(r.ctx(ctx), s)
	if err != nil {
		r.runsOpen.Done()
		return nil, r.orCancelled(ctx, s, r.failure("Preparing the image "+s.Digest, err))
	}
	u := &run{r: r, s: s, image: image, id: r.newContainerID(), talk: newProcess(r)}
	carry := u.run
	if r.keeps(s) {
		taken, ok, err := r.keepable(ctx, u)
		if err != nil {
			r.runsOpen.Done()
			return nil, r.orCancelled(ctx, s, err)
		}
		if u = taken; ok {
			carry = u.resume
		}
	}
	p := u.talk
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	p.kill = func() {
		u.signal(life, unix.SIGKILL)
		go func() {
			select {
			case <-p.ended:
			case <-time.After(killLimit):
				end() // not even that helps
			}
		}()
	}
	go func() {
		defer r.runsOpen.Done()
		defer end()
		defer close(p.ended)
		p.res, p.err = carry(life)
		p.res.Duration = time.Since(start)
		p.handed = u.handed
		p.closeAll()
		u.disown()
	}()
	select {
	case <-p.began:
		return p, nil
	case <-p.ended:
		select {
		case <-p.began: // before that
			return p, nil
		default:
		}
		if p.said != nil {
			p.said.close() // nothing was said
		}
		if p.err == nil {
			p.err = errors.New("it never began")
		}
		return nil, p.err
	}
}

func newProcess(r *Runtime) *process {
	return &process{outcomes: r.outcomes(), began: make(chan struct{}), ended: make(chan struct{})}
}

// newTalk makes the files of a program that is spoken to: a FIFO for stdin, and
// plain files.
func (r *Runtime) newTalk(id string, s runner.Spec, p *process) (*stdio, error) {
	return r.newFiles(id, func(f *stdio) (err error) {
		if err := unix.Mkfifo(f.stdin, 0o600); err != nil {
			return &os.PathError{Op: "mkfifo", Path: f.stdin, Err: err}
		}
		// Both ends at once: it does not wait for the shim, and has not ended
		// before that has come.
		if p.stdin, err = os.OpenFile(f.stdin, os.O_RDWR|unix.O_NONBLOCK, 0); err != nil {
			return err
		}
		if f.stdout, err = newOutput(filepath.Join(f.dir, stdoutFile), os.O_RDWR, nil); err != nil {
			return err
		}
		if p.said, err = openSaid(f.stdout.path); err != nil {
			return err
		}
		if p.ledger, err = newLedger(f.dir); err != nil {
			return err
		}
		f.stderr, err = newOutput(filepath.Join(f.dir, stderrFile), os.O_RDWR, s.Stderr)
		return err
	})
}

// begin is called when the program has begun. The shim has an end of stdin of
// its own, with which the program would never be told of its end.
func (p *process) begin(ctx context.Context, u *run) {
	_, _ = u.tasks().CloseIO(ctx, &taskapi.CloseIORequest{ContainerID: u.id, Stdin: true}) // then it is killed in the end
	close(p.began)
}

// closeAll ends what is still open, but for what the program has said and nobody
// has read yet.
func (p *process) closeAll() {
	if p.stdin != nil {
		_ = p.stdin.Close() // nobody is at the other end
	}
	if p.said != nil {
		p.said.finish()
	}
	if p.ledger != nil {
		p.ledger.close()
	}
}

func (p *process) Stdin() io.WriteCloser       { return p.stdin }
func (p *process) Stdout() io.Reader           { return p.said }
func (p *process) Kill()                       { p.kill() }
func (p *process) Release(offset int64)        { p.said.release(offset) }
func (p *process) Settled(request int64) error { return p.ledger.settled(request) }

// Before implements runner.Process.
func (p *process) Before() int64 { return p.before }

// Asked implements runner.Process.
func (p *process) Asked(request int64, s runner.Spec) error {
	// How an earlier try ended is not how this one does.
	if err := p.outcomes.remove(actionName(s.ID)); err != nil {
		return err
	}
	return p.ledger.asked(request, s)
}

// Wait implements runner.Process.
func (p *process) Wait() (runner.Result, error) {
	<-p.ended
	p.said.close()
	return p.res, p.err
}
