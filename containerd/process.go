package containerd

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"golang.org/x/sys/unix"

	"deployster/internal/invoke"
)

// process is a program that is spoken to while it runs. Its stdin and stdout
// are FIFOs: nothing of them is kept, and the stdin ends when this client does,
// however that ends.
type process struct {
	stdin  *os.File
	stdout *os.File
	keeper *os.File // the writing end of stdout that keeps it from ending before the program has begun
	close  sync.Once

	began chan struct{}
	ended chan struct{} // closed when nothing of it is left; res and err are set then
	res   invoke.Result
	err   error
	kill  func()
}

// Launch implements invoke.Launcher.
func (r *Runtime) Launch(ctx context.Context, s invoke.Spec) (invoke.Process, error) {
	r.runsOpen.Add(1)
	start := time.Now()
	image, err := r.prepareFor(r.ctx(ctx), s)
	if err != nil {
		r.runsOpen.Done()
		return nil, r.orCancelled(ctx, s, r.failure("Preparing the image "+s.Digest, err))
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	p := &process{began: make(chan struct{}), ended: make(chan struct{})}
	u := &run{r: r, s: s, image: image, id: r.newContainerID(), talk: p}
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
		p.res, p.err = u.run(life)
		p.res.Duration = time.Since(start)
		p.closeAll()
	}()
	select {
	case <-p.began:
		return p, nil
	case <-p.ended:
		if p.stdout != nil {
			_ = p.stdout.Close() // nothing was said
		}
		if p.err == nil {
			p.err = errors.New("it never began")
		}
		return nil, p.err
	}
}

// newPipes makes the files of a program that is spoken to: FIFOs, and a plain
// file for stderr.
func (r *Runtime) newPipes(id string, s invoke.Spec, p *process) (*stdio, error) {
	return r.newFiles(id, func(f *stdio) (err error) {
		f.stdout = &output{path: filepath.Join(f.dir, "stdout"), end: make(chan struct{})}
		for _, path := range []string{f.stdin, f.stdout.path} {
			if err := unix.Mkfifo(path, 0o600); err != nil {
				return &os.PathError{Op: "mkfifo", Path: path, Err: err}
			}
		}
		// Both ends at once: neither waits for the shim, and none has ended
		// before it has come.
		if p.stdin, err = os.OpenFile(f.stdin, os.O_RDWR|unix.O_NONBLOCK, 0); err != nil {
			return err
		}
		if p.keeper, err = os.OpenFile(f.stdout.path, os.O_RDWR|unix.O_NONBLOCK, 0); err != nil {
			return err
		}
		if p.stdout, err = os.OpenFile(f.stdout.path, os.O_RDONLY|unix.O_NONBLOCK, 0); err != nil {
			return err
		}
		f.stderr, err = newOutput(filepath.Join(f.dir, "stderr"), s.Stderr)
		return err
	})
}

// begin is called when the program has begun. The shim has an end of stdin of
// its own, with which the program would never be told of its end.
func (p *process) begin(ctx context.Context, u *run) {
	_, _ = u.tasks().CloseIO(ctx, &taskapi.CloseIORequest{ContainerID: u.id, Stdin: true}) // then it is killed in the end
	close(p.began)
}

// closeAll ends what is still open of the FIFOs, but for what the program has
// said and nobody has read yet.
func (p *process) closeAll() {
	for _, f := range []*os.File{p.stdin, p.keeper} {
		if f != nil {
			_ = f.Close() // nobody is at the other end
		}
	}
}

func (p *process) Stdin() io.WriteCloser { return p.stdin }
func (p *process) Stdout() io.Reader     { return p.stdout }
func (p *process) Kill()                 { p.kill() }

// Wait implements invoke.Process.
func (p *process) Wait() (invoke.Result, error) {
	<-p.ended
	p.close.Do(func() { _ = p.stdout.Close() }) // it was only read
	return p.res, p.err
}
