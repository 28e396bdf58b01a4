package natural

import (
	"slices"
	"strings"
)

// Compare compares two names: runs of digits as numbers, everything else as text. Names
// that differ only in leading zeros are compared as text, so that the order is total.
func Compare(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if !digit(x[0]) || !digit(y[0]) {
			if x[0] != y[0] {
				return int(x[0]) - int(y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		n, m := number(x), number(y)
		long, other := strings.TrimLeft(x[:n], "0"), strings.TrimLeft(y[:m], "0")
		if len(long) != len(other) {
			return len(long) - len(other)
		}
		if c := strings.Compare(long, other); c != 0 {
			return c
		}
		x, y = x[n:], y[m:]
	}
	if c := len(x) - len(y); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

// Sort sorts names in place.
func Sort(names []string) { slices.SortFunc(names, Compare) }

// Sorted returns the names of a sequence in this order.
func Sorted(names func(yield func(string) bool)) []string {
	return slices.SortedFunc(names, Compare)
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// number returns how many bytes at the beginning of a text are digits.
func number(text string) int {
	n := 0
	for n < len(text) && digit(text[n]) {
		n++
	}
	return n
}
