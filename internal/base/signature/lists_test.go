package signature

import (
	"bytes"
	"crypto/ed25519"
	"strings"
	"testing"
)

// A file has keys of which one is enough, and lists of which some are.
func TestLists_RequireNumbersOfSignatures(t *testing.T) {
	key := func(seed byte) []byte {
		private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
		return public(t, private.Public())
	}
	join := func(parts ...any) []byte {
		var all []byte
		for _, p := range parts {
			switch p := p.(type) {
			case string:
				all = append(all, p...)
			case []byte:
				all = append(all, p...)
			}
		}
		return all
	}
	one, two, three := key(1), key(2), key(3)
	type want struct {
		name       string
		need, keys int
	}
	for what, c := range map[string]struct {
		text []byte
		want []want
	}{
		"no list":      {join(one, two), []want{{"", 1, 2}}},
		"only lists":   {join("[ops] 2\n", one, two, "\n[security]\r\n", three), []want{{"ops", 2, 2}, {"security", 1, 1}}},
		"keys before":  {join(one, "  [dba] 1\n", two, three), []want{{"", 1, 1}, {"dba", 1, 2}}},
		"blanks first": {join("\n\n[a] 2\n", one, two), []want{{"a", 2, 2}}},
	} {
		lists, err := ParseLists(c.text)
		if err != nil || len(lists) != len(c.want) {
			t.Errorf("%s: %v, %v", what, lists, err)
			continue
		}
		for i, w := range c.want {
			if l := lists[i]; l.Name != w.name || l.Need != w.need || len(l.Keys) != w.keys {
				t.Errorf("%s: list %d is %s, %d of %d keys", what, i, l.Name, l.Need, len(l.Keys))
			}
		}
	}
	for message, text := range map[string][]byte{
		"does not begin a list":              join(one, "[ops] two\n", two),
		"such as [ops] 2":                    join("[ops 2\n", one),
		"write 1 or more":                    join("[ops] 0\n", one),
		"requires 2 signatures and has 1 di": join("[ops] 2\n", one, one),
		"[ops]: no key is below it":          join("[ops] 1\n\n[b] 1\n", one),
		"it has two lists [ops]":             join("[ops] 1\n", one, "[ops] 1\n", two),
		"not a public key":                   join("[ops] 1\nhello\n"),
	} {
		if lists, err := ParseLists(text); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v, %v", message, lists, err)
		}
	}
}
