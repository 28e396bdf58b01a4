package loglines

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxLine is the length at which a line is cut: a program that prints no newline must not
// fill the memory or the screen.
const MaxLine = 16 << 10

// Cut is the end of a line that was cut.
const Cut = " [line cut]"

// Gap returns the line in place of n bytes from the middle of a log. What is before and after
// it may be a part of a line.
func Gap(n int64) string { return fmt.Sprintf("%s%d%s", gapBegin, n, gapEnd) }

// The text of a gap is its number between these.
const (
	gapBegin = "\n[... "
	gapEnd   = " bytes left out ...]\n"
)

// AtGap divides a text at its first gap; found = false: it has none.
func AtGap(text string) (before, line, after string, found bool) {
	for at := 0; ; {
		next := strings.Index(text[at:], gapBegin)
		if next < 0 {
			return text, "", "", false
		}
		at += next
		rest := text[at+len(gapBegin):]
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if digits > 0 && strings.HasPrefix(rest[digits:], gapEnd) {
			end := at + len(gapBegin) + digits + len(gapEnd)
			return text[:at], text[at:end], text[end:], true
		}
		at += len(gapBegin)
	}
}

// Writer cuts output into lines and makes them safe to show.
type Writer struct {
	emit func(text string)
	rest []byte // the line that has not ended yet, at most MaxLine long
	cut  bool   // the line is longer; the rest of it is left out
	back bool   // the last byte was a carriage return: what follows on this line replaces rest
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

// add adds a part of a line. What a carriage return has overwritten takes no room.
func (w *Writer) add(b []byte) {
	for len(b) > 0 {
		part, after, returns := bytes.Cut(b, []byte("\r"))
		if len(part) > 0 && w.back {
			w.rest, w.cut, w.back = w.rest[:0], false, false
		}
		if free := MaxLine - len(w.rest); len(part) > free {
			part, w.cut = part[:free], true
		}
		w.rest = append(w.rest, part...)
		w.back = w.back || returns
		b = after
	}
}

func (w *Writer) end() {
	line, text := w.rest, ""
	if w.cut {
		line = wholeRunes(line)
		text = Cut
	}
	w.emit(Shown(line) + text)
	w.rest, w.cut, w.back = w.rest[:0], false, false
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
