package worker

import (
	"bytes"
	"encoding/json"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// maxReply is the longest line that a worker may print, in bytes. Longer outputs are
// split into several lines.
const maxReply = 32 << 20

// encode returns the line that requests an invocation.
func encode(id int64, s runner.Spec) ([]byte, error) {
	request := requestOf(id, s)
	request.Waits = true
	line, err := jsondoc.Encode(request)
	return append(line, '\n'), err
}

// requestOf returns the request for an invocation.
func requestOf(id int64, s runner.Spec) protocol.WorkerRequest {
	return protocol.WorkerRequest{ID: id, Args: s.Args, Stdin: bytes.TrimSpace(s.Stdin)}
}

// reply reads a line that a worker has printed. It uses encoding/json alone: with another library the program in each Pod would be
// larger by a sixth.
func reply(line []byte) (r protocol.WorkerReply, err error) {
	if err := jsondoc.Check(line); err != nil {
		return r, err
	}
	from := json.NewDecoder(bytes.NewReader(line))
	from.DisallowUnknownFields()
	return r, from.Decode(&r)
}

// cut returns the beginning of a line, safe to show: a secret is not recognised in a part.
func (w *worker) cut(line []byte) string {
	const most = 200
	if line = bytes.TrimSpace(line); w.o.Hide != nil {
		line = []byte(w.o.Hide(string(line)))
	}
	if len(line) > most {
		return strings.ToValidUTF8(diag.Visible(string(line[:most])), "") + "..."
	}
	return diag.Visible(string(line))
}
