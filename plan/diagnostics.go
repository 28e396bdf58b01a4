package plan

import (
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
)

// report adds diagnostics, with the place of the resource where they have none.
func (b *builder) report(r *config.Resource, summary string, diags diag.Diagnostics) {
	b.mu.Lock()
	defer b.mu.Unlock()
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
				b.manifest.Diagnose(d, at)
			}
		}
		b.diags = append(b.diags, d)
	}
}

// sorted gives the diagnostics in an order that does not depend on timing.
func (b *builder) sorted() diag.Diagnostics {
	b.mu.Lock()
	defer b.mu.Unlock()
	slices.SortStableFunc(b.diags, compareDiagnostics)
	return b.diags
}

// errors says how many errors there are so far.
func (b *builder) errors() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, d := range b.diags {
		if d.Severity == diag.Error {
			n++
		}
	}
	return n
}

// firstError is in a few words what went wrong with a resource.
func (b *builder) firstError(addr string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range b.diags {
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
