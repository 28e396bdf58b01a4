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
	var look func(s schema)
	look = func(s schema) {
		if s.BodySchema == nil {
			return
		}
		for _, name := range s.names() {
			if _, found := slices.BinarySearch(words, name); !found {
				t.Errorf("the block or attribute %s is not on the page", name)
			}
		}
		for _, inner := range s.inner {
			look(inner)
		}
	}
	look(rootSchema())
	for _, k := range kinds {
		look(k.schema)
	}
}
