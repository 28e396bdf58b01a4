package findings

import (
	"slices"
	"sync"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/subject"
)

// List holds the diagnostics of one plan. Many goroutines may use it.
type List struct {
	subject *subject.Subject

	mu    sync.Mutex // guards the field below
	diags diag.Diagnostics
}

// New returns an empty list of diagnostics for a subject.
func New(s *subject.Subject) *List { return &List{subject: s} }

// Report adds diagnostics, with the place of the resource and the summary where they have none.
func (f *List) Report(r *config.Resource, summary string, diags diag.Diagnostics) {
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

// Withdraw takes back what was reported about resources that are decided again.
func (f *List) Withdraw(addresses map[string]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.diags = slices.DeleteFunc(f.diags, func(d *diag.Diagnostic) bool { return addresses[d.Address] })
}

// Sorted returns the diagnostics in an order that does not depend on timing.
func (f *List) Sorted() diag.Diagnostics {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.diags.Sort()
	return f.diags
}

// Errors returns the number of errors so far.
func (f *List) Errors() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.diags.Errors()
}

// Failed reports whether there are errors so far.
func (f *List) Failed() bool { return f.Errors() > 0 }

// FirstError returns the headline of the first error of a resource; "" = it has none.
func (f *List) FirstError(addr string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.diags {
		if d.Severity == diag.Error && d.Address == addr {
			return d.Headline()
		}
	}
	return ""
}
