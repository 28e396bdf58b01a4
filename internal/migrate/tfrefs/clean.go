package tfrefs

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Clean returns a name with the characters that names have here: it begins with a letter from
// a to z, and has such letters, digits, _ and -.
func Clean(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1 // the accent of the letter before it
		}
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, norm.NFD.String(name))
	if name = strings.TrimLeft(name, "_-"); name == "" || name[0] <= '9' {
		return "x" + name
	}
	return name
}

// Free returns the name, or the name with as many _ as make it another one than those taken.
func Free(name string, taken func(string) bool) string {
	for taken(name) {
		name += "_"
	}
	return name
}
