package loglines

import (
	"bytes"
	"unicode/utf8"

	"deployster/internal/base/diag"
)

// MaxLine is the length at which a line is cut: a program that prints no newline must not
// fill the memory or the screen.
const MaxLine = 16 << 10

// Writer cuts output into lines and makes them safe to show.
type Writer struct {
	emit func(text string)
	rest []byte // the line that has not ended yet, at most MaxLine long
	cut  bool   // the line is longer; the rest of it is left out
}

// Write never fails.
func (w *Writer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		line, after, whole := bytes.Cut(p, []byte("\n"))
		w.add(line)
		if whole {
			w.end()
		}
		p = after
	}
	return n, nil
}

func (w *Writer) add(b []byte) {
	if room := MaxLine - len(w.rest); len(b) > room {
		b, w.cut = b[:room], true
	}
	w.rest = append(w.rest, b...)
}

func (w *Writer) end() {
	line := bytes.TrimSuffix(w.rest, []byte("\r"))
	text := ""
	if w.cut {
		line = wholeRunes(line)
		text = " [line cut]"
	}
	w.emit(diag.Visible(string(line)) + text)
	w.rest, w.cut = w.rest[:0], false
}

// Flush emits the last line if it has no newline.
func (w *Writer) Flush() {
	if len(w.rest) > 0 {
		w.end()
	}
}

// wholeRunes drops an incomplete character at the end.
func wholeRunes(b []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(b); i++ {
		if start := len(b) - i; utf8.RuneStart(b[start]) {
			if !utf8.FullRune(b[start:]) {
				return b[:start]
			}
			break
		}
	}
	return b
}

// New returns a Writer that calls emit with each line, without its newline.
func New(emit func(text string)) *Writer { return &Writer{emit: emit} }
