package diag

import (
	"cmp"
	"slices"
	"strings"
)

// Sort sorts a list by place, then by address; equal diagnostics keep their order.
func (l Diagnostics) Sort() { slices.SortStableFunc(l, compareDiagnostics) }

// compareDiagnostics compares by place, then by address, summary and detail.
func compareDiagnostics(a, b *Diagnostic) int {
	return cmp.Or(compareRanges(a.Range, b.Range), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Summary, b.Summary),
		cmp.Compare(a.Detail, b.Detail))
}

func compareRanges(a, b *Range) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return cmp.Or(cmp.Compare(a.Filename, b.Filename), cmp.Compare(a.Start.Line, b.Start.Line), cmp.Compare(a.Start.Column, b.Start.Column))
}

// Errors returns how many diagnostics of the list are errors.
func (l Diagnostics) Errors() int {
	n := 0
	for _, d := range l {
		if d.Severity == Error {
			n++
		}
	}
	return n
}

// Headline returns the summary for use within a sentence: without its capital.
func (d *Diagnostic) Headline() string {
	s := d.Summary
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'a' && s[1] <= 'z' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}
