package terminal

import (
	"os"
	"path/filepath"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
)

// maxHistory is the maximum number of lines of a history.
const maxHistory = 1000

// history is the lines that were typed at consoles, the oldest first. It belongs to a
// person, not to a project, and only that person may read it: it may contain a secret
// that was typed.
type history struct {
	file  string // "" = it is not kept
	lines []string
	added bool
}

// openHistory reads the file of a history; "" = the history is not kept.
func openHistory(file string) (*history, diag.Diagnostics) {
	h := &history{file: file}
	if file == "" {
		return h, nil
	}
	content, err := os.ReadFile(h.file)
	if err != nil && !os.IsNotExist(err) {
		h.file = ""
		return h, diag.Diagnostics{diag.Warningf("The history is not used",
			"The earlier lines cannot be read: %s. Lines of this session are not kept.", err)}
	}
	for line := range strings.Lines(string(content)) {
		h.Add(strings.TrimRight(line, "\r\n"))
	}
	h.added = false
	return h, nil
}

// Add adds a line. Like a shell, it ignores a line that equals the previous one, or that
// begins with a space.
func (h *history) Add(line string) {
	if strings.TrimSpace(line) == "" || line[0] == ' ' || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines, h.added = append(h.lines, line), true
	if len(h.lines) > maxHistory {
		h.lines = h.lines[len(h.lines)-maxHistory:]
	}
}

// Len returns the number of lines.
func (h *history) Len() int { return len(h.lines) }

// At returns a line, counted back from the last one.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }

// close writes the lines to the file. It ignores a failure: that is not a reason to end a
// session with an error.
func (h *history) close() {
	if h.file == "" || !h.added {
		return
	}
	if os.MkdirAll(filepath.Dir(h.file), 0o700) == nil {
		_ = durable.WriteFile(h.file, []byte(strings.Join(h.lines, "\n")+"\n"), 0o600)
	}
}
