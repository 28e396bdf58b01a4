package encryption

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
)

// lines stands in the first line of an encrypted file that grows, before the format.
const lines = "lines"

// lineWriter encrypts each Write as a line of its own.
type lineWriter struct {
	w      io.WriteCloser
	stream *Stream
	n      uint64
}

// Lines returns a writer for a new, empty file that grows: it encrypts what is written to
// it, or returns w itself if the keyring does not encrypt.
func (k *Keyring) Lines(kind Kind, w io.WriteCloser) (io.WriteCloser, error) {
	stream, err := k.NewStream(kind)
	if err != nil || stream == nil {
		return w, err
	}
	head, err := json.Marshal(stream.Head())
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s %s %d\n%s\n", magic, kind, lines, Format, head)
	}
	return &lineWriter{w: w, stream: stream}, err
}

func (l *lineWriter) Write(b []byte) (int, error) {
	l.n++
	line := base64.StdEncoding.AppendEncode(nil, l.stream.Encrypt(l.n, lines, b))
	if _, err := l.w.Write(append(line, '\n')); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (l *lineWriter) Close() error { return l.w.Close() }

// OpenLines returns the content of a file that Lines wrote; it returns the data of a file
// that is not encrypted unchanged. An incomplete last line is left out. The name is for
// messages.
func (k *Keyring) OpenLines(kind Kind, name string, data []byte) ([]byte, error) {
	if !Is(data) {
		return data, nil
	}
	head, rest, _ := bytes.Cut(data, []byte("\n"))
	if string(head) != fmt.Sprintf("%s%s %s %d", magic, kind, lines, Format) {
		return nil, refuse(ErrKind, "An encrypted file of another kind",
			"%s begins with %q: it is not an encrypted %s. Nothing was changed.", name, printable(bytes.TrimPrefix(head,
				[]byte(magic))), kind)
	}
	line, rest, _ := bytes.Cut(rest, []byte("\n"))
	var h Head
	if strict(line, &h) != nil {
		return nil, damaged(name, "its head cannot be read")
	}
	stream, err := k.OpenStream(kind, name, h)
	if err != nil {
		return nil, err
	}
	var out []byte
	for n := uint64(1); ; n++ {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		if !whole {
			return out, nil
		}
		data, err := base64.StdEncoding.DecodeString(string(line))
		if err == nil {
			data, err = stream.Open(n, lines, data)
		}
		if err != nil {
			return nil, damaged(name, fmt.Sprintf("its line %d cannot be read", n+2))
		}
		out, rest = append(out, data...), after
	}
}
