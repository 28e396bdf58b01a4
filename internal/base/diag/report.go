package diag

import (
	"bytes"
	"encoding/json"
)

// Report is a list of diagnostics for programs. Its keys, and those of the values in it,
// are the keys that `terraform validate -json` prints, so that programs that read
// Terraform's output can read it; `address` and `action` are added where they are known.
type Report struct {
	FormatVersion string      `json:"format_version"` // "1.0": a new key does not change it
	Valid         bool        `json:"valid"`
	ErrorCount    int         `json:"error_count"`
	WarningCount  int         `json:"warning_count"`
	Diagnostics   Diagnostics `json:"diagnostics"` // never null
}

// NewReport returns a report with its counts. hide removes secrets from every text (nil =
// there are none). The list itself does not change.
func NewReport(list Diagnostics, hide func(string) string) Report {
	r := Report{FormatVersion: "1.0", Valid: true, Diagnostics: Diagnostics{}}
	for _, d := range list {
		if d.Severity == Error {
			r.ErrorCount++
			r.Valid = false
		} else {
			r.WarningCount++
		}
		r.Diagnostics = append(r.Diagnostics, d.Hidden(hide))
	}
	return r
}

// Encode writes the report as indented JSON that ends with a newline.
func (r Report) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(r)
	return b.Bytes(), err
}

// Hidden returns a copy of the diagnostic with every text passed through hide. The
// highlight stays on the same code although the text before it may get shorter.
func (d *Diagnostic) Hidden(hide func(string) string) *Diagnostic {
	c := *d
	if hide == nil {
		return &c
	}
	c.Summary, c.Detail, c.Action = hide(d.Summary), hide(d.Detail), hide(d.Action)
	if d.Snippet == nil {
		return &c
	}
	s := *d.Snippet
	from, to := min(s.HighlightStart, len(s.Code)), min(s.HighlightEnd, len(s.Code))
	code := hide(s.Code)
	if code != s.Code { // a secret may extend across the highlight's edges: then the edges are approximate
		before, marked := hide(s.Code[:from]), hide(s.Code[from:max(from, to)])
		s.HighlightStart, s.HighlightEnd = min(len(before), len(code)), min(len(before)+len(marked), len(code))
	}
	s.Code, s.Context = code, hide(s.Context)
	s.Values = make([]Value, len(d.Snippet.Values))
	for i, v := range d.Snippet.Values {
		s.Values[i] = Value{Name: v.Name, Text: hide(v.Text)}
	}
	c.Snippet = &s
	return &c
}

// MarshalJSON writes a snippet with all its keys: an unknown context is null, and without
// values the list is empty.
func (s Snippet) MarshalJSON() ([]byte, error) {
	type plain Snippet // without this method
	out := struct {
		Context *string `json:"context"`
		plain
	}{plain: plain(s)}
	if s.Context != "" {
		out.Context = &s.Context
	}
	if s.Values == nil {
		out.Values = []Value{}
	}
	return json.Marshal(out)
}
