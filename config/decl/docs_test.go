package decl

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The language's page names every block and attribute.
func TestLanguagePage_NamesBlocksAndAttributes(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.FieldsFunc(string(page), func(r rune) bool { return strings.ContainsRune(" \n`\".,:;()", r) })
	slices.Sort(words)
	var look func(s Syntax)
	look = func(s Syntax) {
		var names []string
		for _, a := range s.Attributes {
			names = append(names, a.Name)
		}
		for _, inner := range s.Blocks {
			names = append(names, inner.Block)
			look(inner)
		}
		for _, name := range names {
			if _, found := slices.BinarySearch(words, name); !found {
				t.Errorf("the block or attribute %s is not on the page", name)
			}
		}
	}
	look(Language())
}
