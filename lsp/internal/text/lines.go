package text

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/apparentlymart/go-textseg/v15/textseg"
	"github.com/hashicorp/hcl/v2"

	"deployster/lsp/internal/wire"
)

// Lines is a text, with where its lines begin. It is never changed.
type Lines struct {
	Text   []byte
	starts []int // offsets
}

// New returns the lines of a text.
func New(text []byte) *Lines {
	l := &Lines{Text: text, starts: []int{0}}
	for i := 0; ; {
		n := bytes.IndexByte(text[i:], '\n')
		if n < 0 {
			return l
		}
		i += n + 1
		l.starts = append(l.starts, i)
	}
}

// line returns a line without its end.
func (l *Lines) line(n int) []byte {
	end := len(l.Text)
	if n+1 < len(l.starts) {
		end = l.starts[n+1]
	}
	return bytes.TrimRight(l.Text[l.starts[n]:end], "\r\n")
}

// units returns how many units of UTF-16 a character has. A byte that is not valid counts as one.
func units(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// Offset returns the offset of a position. One behind the end of its line is that end, and one inside a
// character is its begin.
func (l *Lines) Offset(p wire.Position) int {
	switch {
	case p.Line < 0:
		return 0
	case p.Line >= len(l.starts):
		return len(l.Text)
	}
	line, at := l.line(p.Line), 0
	for left := p.Character; at < len(line); {
		r, size := utf8.DecodeRune(line[at:])
		if left -= units(r); left < 0 {
			break
		}
		at += size
	}
	return l.starts[p.Line] + at
}

// Position returns the position of an offset.
func (l *Lines) Position(offset int) wire.Position {
	offset = max(0, min(offset, len(l.Text)))
	n := sort.SearchInts(l.starts, offset+1) - 1
	p := wire.Position{Line: n}
	for rest := l.Text[l.starts[n]:offset]; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		p.Character += units(r)
		rest = rest[size:]
	}
	return p
}

// Pos returns the position of an offset as HCL counts it.
func (l *Lines) Pos(offset int) hcl.Pos {
	offset = max(0, min(offset, len(l.Text)))
	n := sort.SearchInts(l.starts, offset+1) - 1
	clusters, _ := textseg.TokenCount(l.Text[l.starts[n]:offset], textseg.ScanGraphemeClusters) // it scans bytes in memory
	return hcl.Pos{Line: n + 1, Column: clusters + 1, Byte: offset}
}

// Bytes returns the range between two offsets.
func (l *Lines) Bytes(start, end int) wire.Range {
	return wire.Range{Start: l.Position(start), End: l.Position(max(start, end))}
}

// Range returns the range of a range of HCL.
func (l *Lines) Range(r hcl.Range) wire.Range { return l.Bytes(r.Start.Byte, r.End.Byte) }

// Changed returns the text after a change.
func (l *Lines) Changed(c wire.Change) []byte {
	if c.Range == nil {
		return []byte(c.Text)
	}
	start, end := l.Offset(c.Range.Start), l.Offset(c.Range.End)
	end = max(start, end)
	out := make([]byte, 0, len(l.Text)-(end-start)+len(c.Text))
	return append(append(append(out, l.Text[:start]...), c.Text...), l.Text[end:]...)
}
