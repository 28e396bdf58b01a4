package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"deployster/internal/runtime/remote/frame"
)

// Timing reports when a connection counts as lost.
type Timing struct {
	Ping    time.Duration // how often each end sends kindPing
	Silence time.Duration // a connection on which nothing was read for so long is lost
}

// DefaultTiming returns the Timing for ordinary networks.
func DefaultTiming() Timing { return Timing{Ping: 5 * time.Second, Silence: 30 * time.Second} }

// errSilence is why a connection ends when the other end sends nothing.
var errSilence = errors.New("the other end no longer answers")

// conn is one end of a connection: it writes from many goroutines, reads in one,
// and ends when the other end is silent.
type conn struct {
	stream io.ReadWriteCloser
	timing Timing

	mu sync.Mutex // held while a message is written
	w  *frame.Writer

	active  chan struct{} // receives a value when something was read
	ended   chan struct{} // closed when nothing is read any more
	endOnce sync.Once
	err     error // why the connection ended; set before ended is closed
}

func newConn(stream io.ReadWriteCloser, t Timing) *conn {
	return &conn{stream: stream, timing: t, w: frame.NewWriter(stream), active: make(chan struct{}, 1), ended: make(chan struct{})}
}

// fail ends the connection. Only the first call sets the reason.
func (c *conn) fail(err error) {
	c.endOnce.Do(func() {
		c.err = err
		close(c.ended)
		_ = c.stream.Close() // the connection is lost anyway
	})
}

// encode returns the body of a message: v itself if it is bytes, nil for nil, and v as
// JSON otherwise.
func encode(v any) (body []byte, err error) {
	body, raw := v.([]byte)
	if !raw && v != nil {
		if body, err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	return body, frame.Fits(body)
}

// send writes a message with the body that encode returns. If encode fails, send writes
// nothing and the connection stays open; any other error ends the connection.
func (c *conn) send(k frame.Kind, call uint32, v any) error {
	body, err := encode(v)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	err = c.w.Write(frame.Message{Kind: k, Call: call, Body: body})
	if err == nil {
		err = c.w.Flush()
	}
	if err != nil {
		c.fail(err)
	}
	return err
}

// read hands each message to handle until the stream ends or handle fails.
func (c *conn) read(handle func(frame.Message) error) error {
	r := frame.NewReader(activityReader{c.stream, c.active})
	for {
		m, err := r.Read()
		if err != nil {
			return err
		}
		if m.Kind == kindPing {
			continue
		}
		if err := handle(m); err != nil {
			return err
		}
	}
}

// activityReader reads a stream, and reports that bytes have arrived. A large message may
// take longer than Timing.Silence to arrive.
type activityReader struct {
	stream io.Reader
	active chan<- struct{} // receives a value when something was read
}

func (r activityReader) Read(p []byte) (int, error) {
	n, err := r.stream.Read(p)
	if n > 0 {
		select {
		case r.active <- struct{}{}:
		default:
		}
	}
	return n, err
}

// keepAlive sends pings, and ends the connection when nothing was read for
// Timing.Silence.
func (c *conn) keepAlive() {
	ping, silence := time.NewTicker(c.timing.Ping), time.NewTimer(c.timing.Silence)
	defer ping.Stop()
	defer silence.Stop()
	for {
		select {
		case <-c.ended:
			return
		case <-c.active:
			silence.Reset(c.timing.Silence)
		case <-silence.C:
			c.fail(fmt.Errorf("%w: for %s", errSilence, c.timing.Silence))
			return
		case <-ping.C:
			go func() { _ = c.send(kindPing, 0, nil) }() // an end that does not read is found by its silence
		}
	}
}
