package frame

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// MaxFrame is the limit of one frame's body, and MaxMessage of a message in pieces, in
// bytes. The largest message is the largest answer of a program with its log, in base64.
const (
	MaxFrame   = 1 << 20
	MaxMessage = 112 << 20
)

// headerSize is the size of a frame's header in bytes: its length, kind and call.
const headerSize = 4 + 1 + 4

// Kind reports what a message means.
type Kind uint8

// part is the kind of a frame with the next piece of a message that does not fit into one frame.
const part Kind = 0

// Message is one message. Call is the number of the call that it belongs to, which the
// client chose, or 0 for a message of the connection itself.
type Message struct {
	Kind Kind
	Call uint32
	Body []byte
}

// A Writer writes messages. It is not safe for concurrent use.
type Writer struct{ w *bufio.Writer }

// NewWriter returns a Writer of frames to w.
func NewWriter(w io.Writer) *Writer { return &Writer{bufio.NewWriterSize(w, 64<<10)} }

// Write writes a message, in pieces if it is large. It only buffers: Flush sends the message.
func (w *Writer) Write(m Message) error {
	body := m.Body
	if err := Fits(body); err != nil {
		return err
	}
	for ; len(body) > MaxFrame; body = body[MaxFrame:] {
		if err := w.frame(part, m.Call, body[:MaxFrame]); err != nil {
			return err
		}
	}
	return w.frame(m.Kind, m.Call, body)
}

// Fits reports why the body of a message cannot be sent; nil means that it can.
func Fits(body []byte) error {
	if len(body) > MaxMessage {
		return fmt.Errorf("a message of %d bytes is too large: %d is the limit", len(body), MaxMessage)
	}
	return nil
}

// Flush sends what Write has buffered.
func (w *Writer) Flush() error { return w.w.Flush() }

func (w *Writer) frame(k Kind, call uint32, body []byte) error {
	var header [headerSize]byte
	binary.BigEndian.PutUint32(header[:4], uint32(len(body)))
	header[4] = byte(k)
	binary.BigEndian.PutUint32(header[5:], call)
	if _, err := w.w.Write(header[:]); err != nil {
		return err
	}
	_, err := w.w.Write(body)
	return err
}

// A Reader reads messages. It is not safe for concurrent use.
type Reader struct {
	r      *bufio.Reader
	pieces map[uint32][]byte // the pieces of incomplete messages, by call
	held   int               // bytes in all pieces
}

// NewReader returns a Reader of frames from r.
func NewReader(r io.Reader) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 64<<10), pieces: map[uint32][]byte{}}
}

// Read returns the next complete message. The error is io.EOF only when the stream ends
// between two messages. After any error the Reader cannot be used any more.
func (r *Reader) Read() (Message, error) {
	for {
		m, err := r.frame()
		if err != nil {
			return Message{}, err
		}
		pieces, begun := r.pieces[m.Call]
		if m.Kind == part {
			if r.held += len(m.Body); r.held > MaxMessage {
				return Message{}, fmt.Errorf("the other end sends more than %d bytes in one message", MaxMessage)
			}
			if len(m.Body) == 0 {
				return Message{}, fmt.Errorf("the other end sends an empty piece of a message")
			}
			r.pieces[m.Call] = append(pieces, m.Body...)
			continue
		}
		if begun {
			delete(r.pieces, m.Call)
			r.held -= len(pieces)
			m.Body = append(pieces, m.Body...)
		}
		return m, nil
	}
}

func (r *Reader) frame() (Message, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r.r, header[:]); err != nil {
		if err == io.EOF && len(r.pieces) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return Message{}, err
	}
	n := binary.BigEndian.Uint32(header[:4])
	if n > MaxFrame {
		return Message{}, fmt.Errorf("the other end sends a frame of %d bytes, and %d is the limit: is it deployster?", n, MaxFrame)
	}
	m := Message{Kind: Kind(header[4]), Call: binary.BigEndian.Uint32(header[5:]), Body: make([]byte, n)}
	if _, err := io.ReadFull(r.r, m.Body); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return Message{}, err
	}
	return m, nil
}
