package text

import (
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/lsp/internal/wire"
)

const mixed = "a = \"ä\"\r\n# 👩‍👩‍👧 x\nb = \"e\u0301 😀\" # end\n\nlast"

// Each offset at a character has one position, which leads back to it, and counts the line in UTF-16.
func TestLines_CountUTF16(t *testing.T) {
	t.Parallel()
	l := New([]byte(mixed))
	line, column := 0, 0
	for i := 0; i < len(mixed); {
		r, size := utf8.DecodeRuneInString(mixed[i:])
		want := wire.Position{Line: line, Character: column}
		if got := l.Position(i); got != want {
			t.Errorf("offset %d is at %v, want %v", i, got, want)
		}
		if got := l.Offset(want); got != i && r != '\n' { // between \r and \n is no place
			t.Errorf("%v is offset %d, want %d", want, got, i)
		}
		if column += len(utf16.Encode([]rune{r})); r == '\n' {
			line, column = line+1, 0
		}
		i += size
	}
}

// Pos is what HCL says of the same places.
func TestLines_CountAsHCL(t *testing.T) {
	t.Parallel()
	src := []byte("a = \"ä\"\nb = [\"e\u0301 😀\", 1]\n\nc = \"👩‍👩‍👧\" \n")
	l := New(src)
	tokens, _ := hclsyntax.LexConfig(src, "x", hcl.InitialPos)
	for _, token := range tokens {
		for _, want := range []hcl.Pos{token.Range.Start, token.Range.End} {
			if got := l.Pos(want.Byte); got != want {
				t.Errorf("%v, want %v", got, want)
			}
		}
	}
}

func TestLines_StayInside(t *testing.T) {
	t.Parallel()
	l := New([]byte("ab\n😀\n"))
	for _, c := range []struct {
		p    wire.Position
		want int
	}{{wire.Position{Line: -1}, 0}, {wire.Position{Line: 0, Character: 99}, 2}, {wire.Position{Line: 0, Character: -5}, 0},
		{wire.Position{Line: 1, Character: 1}, 3}, {wire.Position{Line: 9}, 8}, {wire.Position{Line: 2, Character: 3}, 8}} {
		if got := l.Offset(c.p); got != c.want {
			t.Errorf("%v is %d, want %d", c.p, got, c.want)
		}
	}
	if got := l.Position(-3); got != (wire.Position{}) {
		t.Error(got)
	}
	if got := l.Position(99); got != (wire.Position{Line: 2}) {
		t.Error(got)
	}
}

func TestLines_Change(t *testing.T) {
	t.Parallel()
	at := func(a, b, c, d int) *wire.Range {
		return &wire.Range{Start: wire.Position{Line: a, Character: b}, End: wire.Position{Line: c, Character: d}}
	}
	for _, c := range []struct {
		change wire.Change
		want   string
	}{
		{wire.Change{Text: "all"}, "all"},
		{wire.Change{Range: at(0, 4, 0, 6), Text: "x"}, "a 😀x\nb\n"},
		{wire.Change{Range: at(0, 0, 1, 0)}, "b\n"},
		{wire.Change{Range: at(2, 0, 2, 0), Text: "c"}, "a 😀 c\nb\nc"},
		{wire.Change{Range: at(1, 1, 0, 0), Text: "!"}, "a 😀 c\nb!\n"},
		{wire.Change{Range: at(5, 0, 9, 9), Text: "!"}, "a 😀 c\nb\n!"},
	} {
		if got := string(New([]byte("a 😀 c\nb\n")).Changed(c.change)); got != c.want {
			t.Errorf("%+v: %q, want %q", c.change, got, c.want)
		}
	}
}
