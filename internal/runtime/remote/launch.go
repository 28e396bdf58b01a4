package remote

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"

	"golang.org/x/sys/unix"

	"deployster/internal/runtime/remote/frame"
	"deployster/internal/runtime/runner"
)

// Launch implements runner.Launcher for queries. The program ends with the connection. It is not
// kept for later commands, and its Stderr is in the Result and in Spec.Stderr.
func (c *Client) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	if s.Kind != runner.Query {
		return nil, errors.New("a host launches programs for queries only")
	}
	if ctx.Err() != nil {
		return nil, cancelled(ctx, s.Name)
	}
	in := c.open(c.number())
	printed, out := io.Pipe()
	p := &process{client: c, in: in, stdin: newOutput(c.conn, in.call, stdin), stdout: printed, gone: make(chan struct{})}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	unlink := context.AfterFunc(ctx, stop)
	begun := make(chan struct{})
	request := newRunRequest(s)
	request.Spec.Keep = false
	go func() {
		defer stop()
		defer c.close(in.call)
		w := watchers{stdout: out, stderr: s.Stderr, stdin: p.stdin, waiting: s.Waiting, running: sync.OnceFunc(func() { close(begun) })}
		err := c.follow(running, in, kindLaunch, request, w, func(_ uint32, m frame.Message) error {
			end, err := decode[ending](m)
			if err == nil && end.Result != nil {
				p.result = *end.Result
			}
			if err == nil {
				p.err = end.Error.decode(nil)
			}
			return err
		})
		if err != nil {
			p.err = err
		}
		close(p.gone)
		_ = out.Close() // never fails
	}()
	if err := p.started(begun); unlink() {
		if err != nil {
			return nil, err
		}
		return p, nil
	}
	_ = printed.Close() // never fails; the call is cancelled
	<-p.gone
	return nil, cancelled(ctx, s.Name)
}

// process is a program that runs on the host. It implements runner.Process.
type process struct {
	client *Client
	in     *inbox
	stdin  *output
	stdout *io.PipeReader
	gone   chan struct{} // closed when the program has ended; result and err are set before
	result runner.Result
	err    error
}

// started waits until the program has begun, or has ended, and returns why it has not begun; nil = it
// has, and may have ended since.
func (p *process) started(begun <-chan struct{}) error {
	select {
	case <-begun:
	case <-p.gone:
	}
	select {
	case <-begun:
		return nil
	default:
		return cmp.Or(p.err, errors.New("the host ended a program that it did not start"))
	}
}

// Stdin implements runner.Process.
func (p *process) Stdin() io.WriteCloser { return input{p.stdin, p.gone} }

// Stdout implements runner.Process.
func (p *process) Stdout() io.Reader { return p.stdout }

// Asked implements runner.Process: no actions are requested of it.
func (*process) Asked(int64, runner.Spec) error {
	return errors.New("a program launched on a host carries out no actions")
}

// Settled implements runner.Process.
func (*process) Settled(int64) error { return nil }

// Release implements runner.Process: the host keeps nothing that was read.
func (*process) Release(int64) {}

// Before implements runner.Process.
func (*process) Before() int64 { return 0 }

// Keep implements runner.Process.
func (*process) Keep(int64, int64) bool { return false }

// Wait implements runner.Process. It may be called many times.
func (p *process) Wait() (runner.Result, error) {
	<-p.gone
	return p.result, p.err
}

// Terminate implements runner.Process.
func (p *process) Terminate() { p.signal(byte(unix.SIGTERM)) }

// Kill implements runner.Process.
func (p *process) Kill() { p.signal(byte(unix.SIGKILL)) }

// signal sends a signal. A lost connection ends the program, too.
func (p *process) signal(number byte) {
	select {
	case <-p.gone:
	default:
		_ = p.client.conn.send(kindSignal, p.in.call, []byte{number})
	}
}

// input is the Stdin of a process.
type input struct {
	*output
	gone chan struct{}
}

// Write implements io.Writer. It fails when the program has ended.
func (i input) Write(p []byte) (int, error) {
	select {
	case <-i.gone:
		return 0, io.ErrClosedPipe
	default:
		return i.output.Write(p)
	}
}

// Close ends the program's input.
func (i input) Close() error { return i.conn.send(kindOut, i.call, []byte{stdin}) }
