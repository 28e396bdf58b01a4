// Package words puts numbers and names into sentences for people.
//
// It owns how a count, a size, a list of names and a guess at a misspelt name are
// written. Values come in and text goes out, safe for a terminal; it knows nothing
// of what the names stand for.
package words

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"

	"deployster/internal/base/diag"
)

// Count returns a number with its noun: `1 resource`, `3 resources`.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// List returns the first names of a list with commas between, and counts the others.
func List(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", All(names[:most]), more)
	}
	return All(names)
}

// All returns all names with commas between.
func All(names []string) string { return diag.Visible(strings.Join(names, ", ")) }

// Bytes returns a size: `12.5 MiB`.
func Bytes(n int64) string {
	const unit = 1024
	switch {
	case n < unit:
		return fmt.Sprintf("%d B", n)
	case n < unit*unit:
		return fmt.Sprintf("%.1f KiB", float64(n)/unit)
	case n < unit*unit*unit:
		return fmt.Sprintf("%.1f MiB", float64(n)/unit/unit)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/unit/unit/unit)
}

// DidYouMean returns a sentence with the name that was probably meant, after a dash
// or another prefix, or "".
func DidYouMean(wrong string, names []string, prefix string) string {
	best, limit := "", len(wrong)/3+2 // beyond that it would be a guess
	for _, name := range names {
		if d := levenshtein.Distance(wrong, name, nil); d < limit {
			best, limit = name, d
		}
		if len(wrong) >= 3 && strings.HasPrefix(name, wrong) {
			best, limit = name, 0
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("Did you mean %s%s? ", prefix, best)
}

// Thousands returns a number so that its size is seen: 1,234,567.
func Thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
