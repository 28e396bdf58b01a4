package worker

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"deployster/internal/runtime/runner"
)

// Output is the replies of a worker to one request.
type Output struct {
	Stdout, Stderr *runner.Log
	Exit           *int // nil = the request has not ended
	Waits          bool // the worker has not begun the request
}

// Replay reads the recorded stdout of a worker whose client has ended. It returns the replies
// to the requests that wanted selects, and the offset after the last complete line. It ignores
// lines that are not replies, such as the rest of a line whose beginning was released.
func Replay(stdout io.Reader, wanted func(request int64) bool) (outputs map[int64]*Output, end int64, err error) {
	outputs = map[int64]*Output{}
	in := bufio.NewReaderSize(stdout, 64<<10)
	for {
		line, err := runner.ReadLine(in, maxReply)
		if errors.Is(err, io.EOF) {
			return outputs, end, nil
		}
		if err != nil {
			return outputs, end, err
		}
		end += int64(len(line))
		r, err := reply(bytes.TrimLeft(line, "\x00"))
		if err != nil || !wanted(r.ID) {
			continue
		}
		out := outputs[r.ID]
		if out == nil {
			out = &Output{Stdout: runner.NewLog(runner.KeepOutcome), Stderr: runner.NewLog(0)}
			outputs[r.ID] = out
		}
		_, _ = out.Stdout.Write([]byte(r.Stdout)) // never fails
		_, _ = out.Stderr.Write([]byte(r.Stderr))
		if out.Exit = r.Exit; r.Waits != nil {
			out.Waits = *r.Waits
		}
	}
}

// Filter is a writer for the stdout of a worker. It passes on the outputs of one
// request.
type Filter struct {
	Request        int64
	Stdout, Stderr io.Writer // nil = dropped

	rest []byte
}

// Write never fails. After an error of Stdout or Stderr, that writer gets nothing more.
func (p *Filter) Write(b []byte) (int, error) {
	p.rest = append(p.rest, b...)
	for {
		line, rest, whole := bytes.Cut(p.rest, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		p.rest = rest
		r, err := reply(bytes.TrimLeft(line, "\x00"))
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
