package source

import (
	"strings"
	"testing"
)

// What is no name is told with the character that keeps it from being one.
func TestWhyNoName_IsTheFault(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"größe": `"größe" cannot be a name: it has 'ö' in it. A name begins with a letter from a to z or A to Z`,
		"a b":   `it has ' ' in it`,
		"9a":    `it begins with '9'`,
		"übung": `it begins with 'ü'`,
		"-a":    `it begins with '-'`,
		"":      `it is empty`,
	} {
		if got := WhyNoName(text); IsName(text) || !strings.Contains(got, want) {
			t.Errorf("%q: %s", text, got)
		}
	}
}
