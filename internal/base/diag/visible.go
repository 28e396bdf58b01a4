package diag

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Visible makes text from an image, a registry, a file or another process safe
// to show: control characters, terminal escapes, characters that turn the
// direction of text, and bytes that are not UTF-8 are written out as \x1b or
// \u202e. Newlines and tabs stay.
func Visible(s string) string {
	if plain(s) {
		return s
	}
	if i := strings.IndexFunc(s, hidden); i < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1, hidden(r) && r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case hidden(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// Plain reports whether a text is surely safe to show as it is: most safe texts are
// plain, and no unsafe one is.
func Plain(text []byte) bool { return plain(text) }

func plain[T string | []byte](text T) bool {
	for i := 0; i < len(text); i++ {
		if c := text[i]; (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// hidden reports whether a character has another effect than to be seen.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f: // zero width, bidi
		return true
	case r == 0x061c, r == 0x2028, r == 0x2029, r == 0xfeff, r >= 0xe0000 && r <= 0xe007f: // marks, separators, tags
		return true
	}
	return false
}
