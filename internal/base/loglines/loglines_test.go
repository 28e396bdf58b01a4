package loglines

import (
	"slices"
	"strings"
	"testing"
)

// linesOf returns the lines of an output that is written in pieces of n bytes.
func linesOf(output string, n int) (lines []string) {
	w := New(func(text string) { lines = append(lines, text) })
	for piece := range slices.Chunk([]byte(output), n) {
		_, _ = w.Write(piece) // it never fails
	}
	w.Flush()
	return lines
}

// A line is what a terminal shows of it, in whatever pieces the output comes.
func TestWriter_ShowsWhatATerminalShows(t *testing.T) {
	t.Parallel()
	progress := strings.Repeat("Receiving objects: 10%\r", 1000)
	for output, want := range map[string][]string{
		"one\r\ntwo\r\n":                         {"one", "two"},
		"one\r\r\ntwo":                           {"one", "two"},
		"10%\r20%\r100%, done\n":                 {"100%, done"},
		"10%\r20%\r100%, done\r\n":               {"100%, done"},
		progress + "done\nnext\n":                {"done", "next"},
		"10%\r":                                  {"10%"},
		"\rone\n\r\n":                            {"one", ""},
		"remote: done\x1b[K\n":                   {"remote: done"},
		"\x1b[36mINFO\x1b[0m pull\x1b[m\n":       {"INFO pull"},
		"\x1b[1;38;5;196mred\x1b[0;1mbold":       {"redbold"},
		"\x1b[38:2::1:2:3mrgb\x1b(B\x1b[m\n":     {"rgb"},
		"old\r\x1b[Knew\n":                       {"new"},
		"\x1b[2J\x1b[1Ax\x1b]0;t\a\x1b[31":       {`\x1b[2J\x1b[1Ax\x1b]0;t\x07\x1b[31`},
		"\x1b\x1b[1mx\x1b[1\x1b[2my\x1b[?25l":    {`\x1bx\x1b[1y\x1b[?25l`},
		"a\tb\x00\n":                             {"a\tb\\x00"},
		strings.Repeat("a", MaxLine+1) + "\n":    {strings.Repeat("a", MaxLine) + " [line cut]"},
		strings.Repeat("a", 2*MaxLine) + "\rb\n": {"b"},
	} {
		for _, n := range []int{1, 2, 7, 1 << 20} {
			if got := linesOf(output, n); !slices.Equal(got, want) {
				t.Errorf("%.60q in pieces of %d: got %.80q, want %.80q", output, n, got, want)
			}
		}
	}
}
