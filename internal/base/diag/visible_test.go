package diag

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVisible_EscapesControlCharacters(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain é 😀\tand\nmore": "plain é 😀\tand\nmore",
		"\x1b[31mred\x1b[0m":   `\x1b[31mred\x1b[0m`,
		"\x1b]52;c;AAAA\a":     `\x1b]52;c;AAAA\x07`,
		"over\rwritten":        `over\x0dwritten`,
		"\x00\x7f":             `\x00\x7f`,
		"\u009b31m":            `\u009b31m`,
		"\xff\xc3":             `\xff\xc3`,
		"a\u202eb\u2066c":      `a\u202eb\u2066c`,
		"\u2028\ufeff\u200b":   `\u2028\ufeff\u200b`,
		"\U000e0041":           `\U000e0041`,
		"":                     "",
		"real \ufffd stays":    "real \ufffd stays",
	} {
		got := Visible(in)
		if got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		if !utf8.ValidString(got) || strings.ContainsFunc(got, hidden) || Visible(got) != got {
			t.Errorf("%q is not safe to show", got)
		}
	}
}
