package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"deployster/internal/runtime/remote/frame"
)

// Ready is the first line of a host's end; after it come messages.
const Ready = "DEPLOYSTER-READY"

// NoteOf begins a line of stderr by which a program that is the way to a host notes something for people.
const NoteOf = "DEPLOYSTER-NOTE "

// UnreachableError reports that a host could not be reached, or could not be made ready.
// No action was begun there.
type UnreachableError struct{ Reason string }

func (e *UnreachableError) Error() string { return e.Reason }

// LostError reports that the connection to a host was lost during a call. What the call
// has begun may still run there.
type LostError struct {
	Err    error
	Unsent bool // the request was not sent
}

func (e *LostError) Error() string { return "the connection to the host is lost: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// PlaceError reports that the host could not reach the place where a call was to be carried out. The
// call has begun nothing; what an earlier one has begun there may still run.
type PlaceError struct{ Reason string }

func (e *PlaceError) Error() string { return e.Reason }

// RefusedError reports that the host refuses this client, or runs another build.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// Client is this machine's end of a connection. It implements runner.Runner, runner.Launcher
// and runner.Adopter, is safe for concurrent use, and must be closed.
type Client struct {
	conn    *conn
	welcome Welcome

	mu     sync.Mutex
	latest uint32
	calls  map[uint32]*inbox
}

// NewClient sends a greeting to the host at the other end of a stream. The Client owns
// the stream: Close closes it, and NewClient closes it when it returns an error.
func NewClient(ctx context.Context, stream io.ReadWriteCloser, h Hello, t Timing) (*Client, error) {
	c := &Client{conn: newConn(stream, t), calls: map[uint32]*inbox{}}
	greeting := c.open(0)
	go c.conn.keepAlive()
	go func() {
		err := c.conn.read(c.handle)
		if err == io.EOF {
			err = errors.New("it was closed at the other end")
		}
		c.conn.fail(err)
	}()
	stop := context.AfterFunc(ctx, func() { c.conn.fail(context.Cause(ctx)) })
	defer stop()
	if err := c.conn.send(kindHello, 0, h); err != nil {
		return nil, &LostError{Err: err}
	}
	m, err := greeting.next(c.conn, nil)
	switch {
	case err != nil:
		return nil, err
	case m.Kind == kindRefused:
		f, err := decode[failure](m)
		c.conn.fail(errors.New("it is refused"))
		return nil, errors.Join(err, &RefusedError{f.Text})
	}
	if c.welcome, err = decode[Welcome](m); err == nil && c.welcome.Build != h.Build {
		err = &RefusedError{fmt.Sprintf("the program there is of the build %q, and this one of %q", c.welcome.Build, h.Build)}
	}
	if err != nil {
		c.conn.fail(err)
		return nil, err
	}
	c.close(0)
	return c, nil
}

// Welcome returns the host's description of itself.
func (c *Client) Welcome() Welcome { return c.welcome }

// SetPrinted sets Welcome.Printed. The caller must not use the Client at the same time.
func (c *Client) SetPrinted(text string) { c.welcome.Printed = text }

// Lost returns a channel that is closed when the connection is lost or the Client is closed.
func (c *Client) Lost() <-chan struct{} { return c.conn.ended }

// Leaver is a stream whose other end has work to do after the stream was closed.
type Leaver interface {
	// Leave waits until that is done, for a limited time.
	Leave()
}

// Close ends the connection, and waits for the other end if the stream is a Leaver. The caller must have no call in progress.
func (c *Client) Close() error {
	c.conn.fail(errors.New("it was closed here"))
	if s, is := c.conn.stream.(Leaver); is {
		s.Leave()
	}
	return nil
}

// handle puts a message into the inbox of its call.
func (c *Client) handle(m frame.Message) error {
	c.mu.Lock()
	call := c.calls[m.Call]
	c.mu.Unlock()
	if call == nil {
		return nil // the call has ended
	}
	return call.put(m)
}

// open returns the inbox of a new call. Number 0 is the inbox of the connection itself.
func (c *Client) open(number uint32) *inbox {
	in := newInbox(number)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[number] = in
	return in
}

func (c *Client) number() uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if c.latest++; c.latest != 0 && c.calls[c.latest] == nil {
			return c.latest
		}
	}
}

func (c *Client) close(number uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, number)
}

func newInbox(call uint32) *inbox { return &inbox{call: call, some: make(chan struct{}, 1)} }

// inbox holds the messages of a call that were not handled yet.
type inbox struct {
	call uint32
	some chan struct{} // receives a value when a message is put into the queue

	mu    sync.Mutex
	queue []frame.Message
	held  int // bytes of output in the queue
}

// put never blocks. It fails when the other end breaks the protocol and sends more output
// than the window allows.
func (i *inbox) put(m frame.Message) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.held += len(m.Body); i.held > 2*window+frame.MaxMessage+frame.MaxFrame {
		return errors.New("the other end sends more than was requested")
	}
	i.queue = append(i.queue, m)
	select {
	case i.some <- struct{}{}:
	default:
	}
	return nil
}

// next waits for the next message, until ended is closed. It still returns the messages that
// arrived before the connection was lost.
func (i *inbox) next(c *conn, ended <-chan struct{}) (frame.Message, error) {
	for {
		i.mu.Lock()
		if len(i.queue) > 0 {
			m := i.queue[0]
			i.queue[0] = frame.Message{}
			i.queue = i.queue[1:]
			i.held -= len(m.Body)
			i.mu.Unlock()
			return m, nil
		}
		i.mu.Unlock()
		select {
		case <-i.some:
			continue
		default:
		}
		select {
		case <-i.some:
		case <-ended:
			return frame.Message{}, io.EOF
		case <-c.ended:
			i.mu.Lock()
			none := len(i.queue) == 0
			i.mu.Unlock()
			if none {
				return frame.Message{}, &LostError{Err: c.err}
			}
		}
	}
}
