package terminal

import (
	"deployster/internal/ui/paint"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff prints the differences in the form of diff -u.
func (p Printer) Diff(name string, from, to []byte) {
	text := string(diff.Diff("old/"+name, from, "new/"+name, to))
	_, text, _ = strings.Cut(text, "\n") // the first line, which names a command that was not run
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "@@"):
			line = paint.Bold(line)
		case line[0] == '+':
			line = paint.Green(line)
		case line[0] == '-':
			line = paint.Red(line)
		}
		p.Printf("%s", line)
	}
}
