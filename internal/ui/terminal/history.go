package terminal

import (
	"os"
	"path/filepath"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
)

// maxHistory is how many lines of a console are kept.
const maxHistory = 1000

// history are the lines that were typed at consoles, the oldest first. It is a
// person's, not a project's, and only that person may read it: somebody may
// have typed a secret.
type history struct {
	file  string // "" = it is not kept
	lines []string
	added bool
}

// openHistory reads a file of them; "" = they are not kept.
func openHistory(file string) (*history, diag.Diagnostics) {
	h := &history{file: file}
	if file == "" {
		return h, nil
	}
	content, err := os.ReadFile(h.file)
	if err != nil && !os.IsNotExist(err) {
		h.file = ""
		return h, diag.Diagnostics{diag.Warningf("The history is not used",
			"What was typed earlier cannot be read: %s. What is typed now is not kept.", err)}
	}
	for line := range strings.Lines(string(content)) {
		h.Add(strings.TrimRight(line, "\r\n"))
	}
	h.added = false
	return h, nil
}

// Add takes note of a line. A line that is the same as the one before it, or
// that begins with a space, is not kept, as in a shell.
func (h *history) Add(line string) {
	if strings.TrimSpace(line) == "" || line[0] == ' ' || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines, h.added = append(h.lines, line), true
	if len(h.lines) > maxHistory {
		h.lines = h.lines[len(h.lines)-maxHistory:]
	}
}

// Len is how many lines there are.
func (h *history) Len() int { return len(h.lines) }

// At is a line, counted back from the last one.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }

// close keeps the lines. That it cannot is no reason to end a session with an
// error.
func (h *history) close() {
	if h.file == "" || !h.added {
		return
	}
	if os.MkdirAll(filepath.Dir(h.file), 0o700) == nil {
		_ = durable.WriteFile(h.file, []byte(strings.Join(h.lines, "\n")+"\n"), 0o600)
	}
}
