package recording

import (
	"fmt"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner/typeclient"
)

// Canonical returns an answer without its memory, in a form that can be compared and shown.
func Canonical(raw []byte) string {
	if shown := typeclient.Forgotten(raw); shown != nil {
		raw = shown
	}
	c, err := jsondoc.Canonical(raw)
	if err != nil {
		return string(raw)
	}
	return string(c)
}

// Difference returns the parts of two texts around their first difference.
func Difference(a, b string) string {
	const before, after = 30, 60
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	part := func(s string) string {
		from, to := max(0, i-before), min(len(s), i+after)
		text := strings.ToValidUTF8(s[from:to], "")
		if from > 0 {
			text = "…" + text
		}
		if to < len(s) {
			text += "…"
		}
		return text
	}
	return fmt.Sprintf("%s is now %s", part(a), part(b))
}
