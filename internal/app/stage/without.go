package stage

import (
	"slices"

	"deployster/internal/base/diag"
)

// without returns an error without the diagnostics that are already among the problems of a report.
func without(err error, problems diag.Diagnostics) error {
	var left diag.Diagnostics
	for _, d := range diag.From("Error", err) {
		same := func(p *diag.Diagnostic) bool { return p.Summary == d.Summary && p.Detail == d.Detail }
		if !slices.ContainsFunc(problems, same) { // whether it has an address or not: it is one fault
			left = append(left, d)
		}
	}
	return left.Err()
}
