package paint

import "testing"

// Marks become codes or nothing; everything else stays, characters beside them too.
func TestColors_BecomeCodesOrNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, on, off string }{
		"nothing":                      {"", "", ""},
		"no marks":                     {"plain ä", "plain ä", "plain ä"},
		"three marks":                  {Bold("a") + Dim("b") + Red("c"), "\x1b[1ma\x1b[0m\x1b[2mb\x1b[0m\x1b[31mc\x1b[0m", "abc"},
		"text between":                 {"x " + Green("y") + Yellow("z") + Cyan("€") + " w", "x \x1b[32my\x1b[0m\x1b[33mz\x1b[0m\x1b[36m€\x1b[0m w", "x yz€ w"},
		"other characters of the area": {"\uf8df\uf8e0\uf8e7\uf8ff", "\uf8df\x1b[0m\uf8e7\uf8ff", "\uf8df\uf8e7\uf8ff"},
		"a cut character":              {"cut \xef\xa3", "cut \xef\xa3", "cut \xef\xa3"},
	} {
		t.Run(name, func(t *testing.T) {
			if on, off := Colors(c.text, true), Colors(c.text, false); on != c.on || off != c.off {
				t.Errorf("%q is %q and %q, not %q and %q", c.text, on, off, c.on, c.off)
			}
		})
	}
}

func TestWidth_CountsCells(t *testing.T) {
	t.Parallel()
	for text, cells := range map[string]int{"": 0, "abc": 3, Red("abc"): 3, "ä": 1, "日本": 4, "a\tb": 2} {
		if got := Width(text); got != cells {
			t.Errorf("%q takes %d cells, not %d", text, got, cells)
		}
	}
}
