package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sys/unix"

	"deployster/internal/runtime/remote/frame"
	"deployster/internal/runtime/runner"
)

// launched is a program that a client has launched, at the host's end.
type launched struct {
	conn   *conn
	call   uint32
	stdout *output
	stdin  *inbox // what the client has sent for it

	mu      sync.Mutex
	process runner.Process // nil = it is not started yet
}

func newLaunched(c *conn, call uint32, stdout *output) *launched {
	return &launched{conn: c, call: call, stdout: stdout, stdin: newInbox(call)}
}

// handle processes input or a signal for the program.
func (l *launched) handle(m frame.Message) error {
	if len(m.Body) == 0 {
		return errors.New("the client sends an empty message to a program")
	}
	if m.Kind == kindOut {
		return l.stdin.put(m)
	}
	l.mu.Lock()
	p := l.process
	l.mu.Unlock()
	switch {
	case p == nil: // its client learns that it has started before it sends signals
		return errors.New("the client sends a signal to a program that is not started")
	case m.Body[0] == byte(unix.SIGTERM):
		go p.Terminate() // it may wait for the end of the program
	default:
		p.Kill()
	}
	return nil
}

// run starts the program, passes on its input and output, and returns how it ended.
func (l *launched) run(ctx context.Context, at runner.Launcher, s runner.Spec) ending {
	if s.Kind != runner.Query {
		return ending{Error: encodeError(fmt.Errorf("%s is not a query", s.Name))}
	}
	p, err := at.Launch(ctx, s)
	if err != nil {
		return ending{Error: encodeError(err)}
	}
	l.mu.Lock()
	l.process = p
	l.mu.Unlock()
	defer context.AfterFunc(ctx, p.Kill)()
	ended := make(chan struct{})
	defer close(ended)
	go l.feed(p, ended)
	if err := l.conn.send(kindRunning, l.call, nil); err != nil {
		p.Kill()
	}
	if _, err := io.Copy(l.stdout, p.Stdout()); err != nil {
		p.Kill()
		_, _ = io.Copy(io.Discard, p.Stdout()) // its stdout must be read to the end
	}
	res, err := p.Wait()
	return ending{Result: &res, Error: encodeError(err)}
}

// feed writes what the client sends to the program's stdin, until ended is closed.
func (l *launched) feed(p runner.Process, ended <-chan struct{}) {
	in := p.Stdin()
	defer func() { _ = in.Close() }() // a program whose input cannot be closed gets a signal
	for {
		m, err := l.stdin.next(l.conn, ended)
		if err != nil || len(m.Body) == 1 {
			return
		}
		if _, err := in.Write(m.Body[1:]); err != nil {
			return // the program is ending
		}
		if l.conn.send(kindTaken, l.call, encodeTaken(stdin, len(m.Body)-1)) != nil {
			return
		}
	}
}
