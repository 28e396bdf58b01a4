package plan

import (
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
	f.diags.Sort()
	return f.diags
}

// errors says how many errors there are so far.
func (f *findings) errors() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.diags.Errors()
}

// firstError is in a few words what went wrong with a resource.
func (f *findings) firstError(addr string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.diags {
		if d.Severity == diag.Error && d.Address == addr {
			return d.Headline()
		}
	}
	return ""
}
