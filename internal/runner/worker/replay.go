package worker

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"deployster/internal/runner"
)

// Heard is what a worker has said about one request.
type Heard struct {
	Stdout, Stderr *runner.Log
	Exit           *int // nil = it has not said that it is through
}

// Replay reads what a worker has said about some requests, and how far it came:
// the offset after the last line that is whole. It is for when nobody was there
// to hear it. What is no reply, as the rest of a line whose begin is gone, is
// passed over.
func Replay(stdout io.Reader, wanted func(request int64) bool) (said map[int64]*Heard, end int64, err error) {
	said = map[int64]*Heard{}
	in := bufio.NewReaderSize(stdout, 64<<10)
	for {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return said, end, nil
		}
		if err != nil {
			return said, end, err
		}
		end += int64(len(line))
		r, err := decode(bytes.TrimLeft(line, "\x00"))
		if err != nil || !wanted(r.ID) {
			continue
		}
		h := said[r.ID]
		if h == nil {
			h = &Heard{Stdout: runner.NewLog(0), Stderr: runner.NewLog(0)}
			said[r.ID] = h
		}
		_, _ = h.Stdout.Write([]byte(r.Stdout)) // never fails
		_, _ = h.Stderr.Write([]byte(r.Stderr))
		h.Exit = r.Exit
	}
}

// Picker is a writer that gets what a worker says, and hands on what it says
// about one request.
type Picker struct {
	Request        int64
	Stdout, Stderr io.Writer // nil = nobody watches

	rest []byte
}

// Write never fails: a watcher that does gets nothing more.
func (p *Picker) Write(b []byte) (int, error) {
	p.rest = append(p.rest, b...)
	for {
		line, rest, whole := bytes.Cut(p.rest, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		p.rest = rest
		r, err := decode(bytes.TrimLeft(line, "\x00"))
		if err != nil || r.ID != p.Request {
			continue
		}
		p.Stdout, p.Stderr = pass(p.Stdout, r.Stdout), pass(p.Stderr, r.Stderr)
	}
}

func pass(to io.Writer, text string) io.Writer {
	if to == nil || text == "" {
		return to
	}
	if _, err := io.WriteString(to, text); err != nil {
		return nil
	}
	return to
}
