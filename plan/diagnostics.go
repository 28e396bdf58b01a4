package plan

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/subject"
)

// findings are the diagnostics of a Build, from many goroutines.
type findings struct {
	subject *subject.Subject

	mu    sync.Mutex // guards what follows
	diags diag.Diagnostics
}

// report adds diagnostics, with the place of the resource where they have none.
func (f *findings) report(r *config.Resource, summary string, diags diag.Diagnostics) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range diags {
		if d.Summary == "" {
			d.Summary = summary
		}
		if r != nil {
			if d.Address == "" {
				d.Address = r.Address
			}
			if d.Snippet == nil {
				at := d.Range
				if at == nil {
					at = &r.Range
				}
				f.subject.Manifest.Diagnose(d, at)
			}
		}
		f.diags = append(f.diags, d)
	}
}

// sorted gives the diagnostics in an order that does not depend on timing.
func (f *findings) sorted() diag.Diagnostics {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.SortStableFunc(f.diags, compareDiagnostics)
	return f.diags
}

// errors says how many errors there are so far.
func (f *findings) errors() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, d := range f.diags {
		if d.Severity == diag.Error {
			n++
		}
	}
	return n
}

// firstError is in a few words what went wrong with a resource.
func (f *findings) firstError(addr string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.diags {
		if d.Severity == diag.Error && d.Address == addr {
			return sentence(d.Summary)
		}
	}
	return ""
}

// sentence makes of a headline what may stand within a sentence.
func sentence(headline string) string {
	if len(headline) > 1 && headline[0] >= 'A' && headline[0] <= 'Z' && headline[1] >= 'a' && headline[1] <= 'z' {
		return strings.ToLower(headline[:1]) + headline[1:]
	}
	return headline
}

// compareDiagnostics sorts by place, then by resource.
func compareDiagnostics(a, b *diag.Diagnostic) int {
	return cmp.Or(compareRanges(a.Range, b.Range), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Summary, b.Summary), cmp.Compare(a.Detail,
		b.Detail))
}

func compareRanges(a, b *diag.Range) int {
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
