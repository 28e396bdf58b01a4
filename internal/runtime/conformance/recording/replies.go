package recording

import (
	"bytes"
	"encoding/json"
	"fmt"

	"deployster/protocol"
)

// Reply collects all replies of a worker to one request.
type Reply struct {
	Stdout, Stderr string
	Exit           *int
}

// ReadReplies parses the stdout of a worker. problem reports how it breaks the protocol.
func ReadReplies(stdout []byte) (answers map[int64]*Reply, problem string) {
	answers = map[int64]*Reply{}
	for line := range bytes.Lines(stdout) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var r protocol.WorkerReply
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Sprintf("A line on its stdout is not a reply (%s): %s", err, Cut(string(line)))
		}
		a := answers[r.ID]
		if a == nil {
			a = &Reply{}
			answers[r.ID] = a
		}
		if a.Exit != nil {
			return nil, fmt.Sprintf("It printed output of request %d after its exit, or ended it twice.", r.ID)
		}
		a.Stdout, a.Stderr, a.Exit = a.Stdout+r.Stdout, a.Stderr+r.Stderr, r.Exit
	}
	return answers, ""
}

// DiffersFrom returns how a reply differs from a fresh run; "" = not at all. nil means that there was none.
func (got *Reply) DiffersFrom(want Run) string {
	switch {
	case got == nil:
		return "it was never answered."
	case got.Exit == nil:
		return "its exit was never reported."
	case *got.Exit != want.Result.ExitCode:
		return fmt.Sprintf("exit %d, and %d in a fresh run. Its stderr: %s", *got.Exit, want.Result.ExitCode, Cut(got.Stderr))
	}
	if was, is := Canonical(want.Result.Stdout), Canonical([]byte(got.Stdout)); was != is {
		return "the answer differs from that of a fresh run: " + Difference(was, is)
	}
	return ""
}
