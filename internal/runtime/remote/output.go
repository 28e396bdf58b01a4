package remote

import (
	"encoding/binary"
	"errors"
	"sync"
)

// window is how many bytes of a stream one end may send before the other end has consumed
// them. largestOut is how many bytes go in one message.
const (
	window     = 256 << 10
	largestOut = 64 << 10
)

// The numbers of streams in kindOut and kindTaken.
const (
	stdin  byte = 0
	stdout byte = 1
	stderr byte = 2
)

// output sends a stream of a program to the other end: what it prints, or its input. Write waits
// until the other end has consumed enough of it, so a slow reader costs no memory.
type output struct {
	conn   *conn
	call   uint32
	stream byte

	mu     sync.Mutex
	credit int
	more   chan struct{} // receives a value when room grows
}

func newOutput(c *conn, call uint32, stream byte) *output {
	return &output{conn: c, call: call, stream: stream, credit: window, more: make(chan struct{}, 1)}
}

// Write sends p in order. It fails when the connection is lost.
func (o *output) Write(p []byte) (int, error) {
	sent := 0
	for sent < len(p) {
		n := o.reserve(min(len(p)-sent, largestOut))
		if n == 0 {
			return sent, errors.New("the connection is lost")
		}
		body := append([]byte{o.stream}, p[sent:sent+n]...)
		if err := o.conn.send(kindOut, o.call, body); err != nil {
			return sent, err
		}
		sent += n
	}
	return sent, nil
}

// reserve waits for room in the window and takes up to n bytes of it; 0 = the connection is lost.
func (o *output) reserve(n int) int {
	for {
		o.mu.Lock()
		if got := min(n, o.credit); got > 0 {
			o.credit -= got
			o.mu.Unlock()
			return got
		}
		o.mu.Unlock()
		select {
		case <-o.more:
		case <-o.conn.ended:
			return 0
		}
	}
}

// taken gives n bytes of room back, up to the window: the other end cannot enlarge it.
func (o *output) taken(n int) {
	o.mu.Lock()
	o.credit = min(o.credit+n, window)
	o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
}

// encodeTaken and decodeTaken convert the body of kindTaken.
func encodeTaken(stream byte, n int) []byte {
	return binary.BigEndian.AppendUint32([]byte{stream}, uint32(n))
}

func decodeTaken(body []byte) (stream byte, n int, ok bool) {
	if len(body) != 5 {
		return 0, 0, false
	}
	return body[0], int(min(binary.BigEndian.Uint32(body[1:]), window)), true
}
