package frame

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestReader_ReadsWhatWasWritten(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789"), MaxFrame/4)
	messages := []Message{
		{Kind: 1, Call: 0, Body: nil},
		{Kind: 2, Call: 7, Body: []byte("hello")},
		{Kind: 3, Call: 1 << 31, Body: large},
		{Kind: 255, Call: 7, Body: make([]byte, MaxFrame)},
	}
	var stream bytes.Buffer
	w := NewWriter(&stream)
	for _, m := range messages {
		if err := w.Write(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r := NewReader(&stream)
	for i, want := range messages {
		got, err := r.Read()
		if err != nil || got.Kind != want.Kind || got.Call != want.Call || !bytes.Equal(got.Body, want.Body) {
			t.Fatalf("message %d: kind %d, call %d, %d bytes, error %v", i, got.Kind, got.Call, len(got.Body), err)
		}
	}
	if _, err := r.Read(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestReader_RefusesWhatIsTooLarge(t *testing.T) {
	frame := func(n uint32, k Kind, body []byte) []byte {
		return append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), byte(k), 0, 0, 0, 1}, body...)
	}
	endless := func() io.Reader {
		one := frame(MaxFrame, part, make([]byte, MaxFrame))
		return bytes.NewReader(bytes.Repeat(one, MaxMessage/MaxFrame+1))
	}
	for _, c := range []struct {
		name   string
		stream io.Reader
		want   string
	}{
		{"a length of 4 GiB", bytes.NewReader(frame(1<<32-1, 1, nil)), "is it deployster?"},
		{"a text", strings.NewReader("Welcome to this host\n"), "is it deployster?"},
		{"an endless message", endless(), "in one message"},
		{"an empty piece", bytes.NewReader(frame(0, part, nil)), "empty piece"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := NewReader(c.stream).Read(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestReader_DistinguishesACutStreamFromItsEnd(t *testing.T) {
	var stream bytes.Buffer
	w := NewWriter(&stream)
	if err := errors.Join(w.Write(Message{Kind: 1, Call: 2, Body: make([]byte, MaxFrame+5)}), w.Flush()); err != nil {
		t.Fatal(err)
	}
	whole := stream.Bytes()
	for _, n := range []int{1, headerSize, headerSize + 1, headerSize + MaxFrame, len(whole) - 1} {
		if _, err := NewReader(bytes.NewReader(whole[:n])).Read(); err != io.ErrUnexpectedEOF {
			t.Errorf("after %d of %d bytes: %v", n, len(whole), err)
		}
	}
}

func FuzzReader_NeverTrusts(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 1, 0, 0, 0, 0, 'x'})
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 'x', 0, 0, 0, 0, 1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := NewReader(bytes.NewReader(stream))
		for read := 0; ; {
			m, err := r.Read()
			if err != nil {
				return
			}
			if read += len(m.Body) + headerSize; read > len(stream) {
				t.Fatalf("read %d bytes of %d", read, len(stream))
			}
		}
	})
}
