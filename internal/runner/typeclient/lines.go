package typeclient

import (
	"bytes"
	"io"
	"unicode/utf8"

	"deployster/internal/base/diag"
)

// maxLine is where a long line is cut: a program that prints no newline must
// not fill the memory or the screen.
const maxLine = 16 << 10

// lineWriter cuts output into lines and makes them safe to show.
type lineWriter struct {
	emit func(text string)
	rest []byte // the line that has not ended yet, at most maxLine long
	cut  bool   // the line is longer; the rest of it is left out
}

// Write never fails.
func (w *lineWriter) Write(p []byte) (int, error) {
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

func (w *lineWriter) add(b []byte) {
	if room := maxLine - len(w.rest); len(b) > room {
		b, w.cut = b[:room], true
	}
	w.rest = append(w.rest, b...)
}

func (w *lineWriter) end() {
	line := bytes.TrimSuffix(w.rest, []byte("\r"))
	text := ""
	if w.cut {
		line = wholeRunes(line)
		text = " [line cut]"
	}
	w.emit(diag.Visible(string(line)) + text)
	w.rest, w.cut = w.rest[:0], false
}

// flush gives the last line, when it has no newline.
func (w *lineWriter) flush() {
	if len(w.rest) > 0 {
		w.end()
	}
}

// wholeRunes drops the part of a character that a cut has left at the end.
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

// Lines returns a writer that makes lines, safe to show, of what a step of a
// resource prints, and what ends the last one.
func Lines(address, step string, stream Stream, log func(Line)) (w io.Writer, flush func()) {
	l := &lineWriter{emit: func(text string) { log(Line{Address: address, Step: step, Stream: stream, Text: text}) }}
	return l, l.flush
}
