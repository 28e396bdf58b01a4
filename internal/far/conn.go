package far

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"deployster/internal/wire"
)

// Timing says when a connection counts as lost.
type Timing struct {
	Ping    time.Duration // how often an end says that it is there
	Silence time.Duration // after so long without a word it is lost
}

// DefaultTiming is for networks as they are.
func DefaultTiming() Timing { return Timing{Ping: 5 * time.Second, Silence: 30 * time.Second} }

// errSilence ends a connection.
var errSilence = errors.New("the other end says nothing any more")

// conn is one end of a connection: it writes from many goroutines, reads in one,
// and ends when the other end is silent.
type conn struct {
	stream io.ReadWriteCloser
	timing Timing

	mu sync.Mutex // held while a message is written
	w  *wire.Writer

	heard    chan struct{} // gets one when something was read
	over     chan struct{} // closed when nothing is read any more
	overOnce sync.Once
	err      error // why; set before over is closed
}

func newConn(stream io.ReadWriteCloser, t Timing) *conn {
	return &conn{stream: stream, timing: t, w: wire.NewWriter(stream), heard: make(chan struct{}, 1), over: make(chan struct{})}
}

// fail ends the connection; the first reason counts.
func (c *conn) fail(err error) {
	c.overOnce.Do(func() {
		c.err = err
		close(c.over)
		_ = c.stream.Close() // it is given up
	})
}

// encode returns the body of a message: v as JSON, or v itself if it is bytes; nil is no
// body.
func encode(v any) (body []byte, err error) {
	body, raw := v.([]byte)
	if !raw && v != nil {
		if body, err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	return body, wire.Fits(body)
}

// send writes a message with the body that encode gives. What cannot be encoded is not
// written; another error is the end of the connection.
func (c *conn) send(k wire.Kind, call uint32, v any) error {
	body, err := encode(v)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	err = c.w.Write(wire.Message{Kind: k, Call: call, Body: body})
	if err == nil {
		err = c.w.Flush()
	}
	if err != nil {
		c.fail(err)
	}
	return err
}

// read hands each message to handle until the stream ends or handle fails.
func (c *conn) read(handle func(wire.Message) error) error {
	r := wire.NewReader(hearing{c})
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

// hearing reads the stream of a connection, and says that there is something: a large
// message may take longer than the silence that is its end.
type hearing struct{ *conn }

func (h hearing) Read(p []byte) (int, error) {
	n, err := h.stream.Read(p)
	if n > 0 {
		select {
		case h.heard <- struct{}{}:
		default:
		}
	}
	return n, err
}

// keepAlive says that this end is there, and ends the connection when the other
// end is not.
func (c *conn) keepAlive() {
	ping, silence := time.NewTicker(c.timing.Ping), time.NewTimer(c.timing.Silence)
	defer ping.Stop()
	defer silence.Stop()
	for {
		select {
		case <-c.over:
			return
		case <-c.heard:
			silence.Reset(c.timing.Silence)
		case <-silence.C:
			c.fail(fmt.Errorf("%w: for %s", errSilence, c.timing.Silence))
			return
		case <-ping.C:
			go func() { _ = c.send(kindPing, 0, nil) }() // an end that does not read is found by its silence
		}
	}
}
