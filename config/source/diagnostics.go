package source

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcled"

	"deployster/internal/base/diag"
	"deployster/internal/base/secret"
)

// The limits on the source that a diagnostic shows.
const (
	maxSnippetLines = 10
	maxSnippetBytes = 2000
)

// Failure returns an error at a place.
func Failure(r hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: &r}
}

// Convert converts HCL's diagnostics to deployster's. Equal ones, from one expression
// that was evaluated several times, are reported once. The texts that secrets returns
// are removed.
func (s *Set) Convert(list hcl.Diagnostics, secrets func() []string) diag.Diagnostics {
	if len(list) == 0 {
		return nil
	}
	var out diag.Diagnostics
	list = foremost(list)
	type key struct{ where, summary, detail string }
	seen := map[key]bool{}
	var hidden []string
	if secrets != nil {
		hidden = secrets()
	}
	shared := secret.NewHider(hidden)
	for _, h := range list {
		hider := shared
		if own := secretsOf(h); len(own) > 0 {
			hider = secret.NewHider(append(own, hidden...))
		}
		d := &diag.Diagnostic{Severity: diag.Error, Summary: h.Summary, Detail: shorten(hider.Hide(h.Detail))}
		if h.Severity == hcl.DiagWarning {
			d.Severity = diag.Warning
		}
		k := key{"", d.Summary, d.Detail}
		if h.Subject != nil {
			k.where = h.Subject.String()
			r := FromHCL(*h.Subject)
			s.Diagnose(d, &r)
			if d.Snippet != nil {
				d.Snippet.Values = valueNotes(h)
			}
		}
		if !seen[k] {
			seen[k] = true
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, inOrder)
	return out
}

// maxDiagnostics is how many diagnostics are reported. More would not help the user,
// and each costs a search through its file.
const maxDiagnostics = 200

// foremost returns the first of very many diagnostics, errors before warnings, and
// adds one with the number of the rest.
func foremost(list hcl.Diagnostics) hcl.Diagnostics {
	if len(list) <= maxDiagnostics {
		return list
	}
	place := func(d *hcl.Diagnostic) hcl.Range {
		if d.Subject == nil {
			return hcl.Range{}
		}
		return *d.Subject
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b *hcl.Diagnostic) int {
		return cmp.Or(int(a.Severity)-int(b.Severity), strings.Compare(place(a).Filename, place(b).Filename),
			place(a).Start.Byte-place(b).Start.Byte)
	})
	first := sorted[0]
	return append(sorted[:maxDiagnostics:maxDiagnostics], &hcl.Diagnostic{Severity: first.Severity, Summary: "Many mistakes",
		Detail: fmt.Sprintf("There are %d more. Fix these first: others may follow from them.", len(list)-maxDiagnostics)})
}

// validText replaces each invalid byte by a ?, so that offsets stay valid.
func validText(code []byte) string {
	if utf8.Valid(code) {
		return string(code)
	}
	out := slices.Clone(code)
	for i := 0; i < len(out); {
		r, size := utf8.DecodeRune(out[i:])
		if r == utf8.RuneError && size == 1 {
			out[i] = '?'
		}
		i += size
	}
	return string(out)
}

// inOrder sorts errors before warnings, and each by place.
func inOrder(a, b *diag.Diagnostic) int {
	if a.Severity != b.Severity || a.Range == nil || b.Range == nil {
		return int(a.Severity) - int(b.Severity)
	}
	if c := strings.Compare(a.Range.Filename, b.Range.Filename); c != 0 {
		return c
	}
	return a.Range.Start.Byte - b.Range.Start.Byte
}

// shorten truncates a message in which a library has quoted a very long text.
func shorten(text string) string {
	const limit = 2000
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// FromHCL converts a range of HCL.
func FromHCL(r hcl.Range) diag.Range {
	return diag.Range{Filename: r.Filename, Start: fromPos(r.Start), End: fromPos(r.End)}
}

func fromPos(p hcl.Pos) diag.Position {
	return diag.Position{Line: p.Line, Column: p.Column, Byte: p.Byte}
}

// Diagnose sets the range and the snippet of a diagnostic, and returns it. A nil
// range changes nothing.
func (s *Set) Diagnose(d *diag.Diagnostic, r *diag.Range) *diag.Diagnostic {
	if r == nil {
		return d
	}
	place := *r
	if place.Start.Byte == place.End.Byte { // an empty range: the next character is shown
		place.End.Byte, place.End.Column = place.End.Byte+1, place.End.Column+1
	}
	d.Range = &place
	if src, ok := s.BytesOf(place.Filename); ok {
		d.Snippet = Snippet(src, place)
		if f := s.files[place.Filename]; f != nil && d.Snippet != nil {
			d.Snippet.Context = hcled.ContextString(f, place.Start.Byte)
		}
	}
	return d
}

// BytesOf returns the text of a file that was read.
func (s *Set) BytesOf(filename string) ([]byte, bool) {
	if f := s.files[filename]; f != nil {
		return f.Bytes, true
	}
	src, ok := s.Text[filename]
	return src, ok
}

// Snippet returns the whole lines around a range. src may hold any bytes, because
// files that cannot be parsed are quoted too.
func Snippet(src []byte, r diag.Range) *diag.Snippet {
	start, end := r.Start.Byte, max(r.End.Byte, r.Start.Byte)
	if start < 0 || start > len(src) {
		return nil
	}
	end = min(end, len(src))
	first := bytes.LastIndexByte(src[:start], '\n') + 1
	last := first
	for n := 0; n < maxSnippetLines && last < len(src); n++ {
		i := bytes.IndexByte(src[last:], '\n')
		if i < 0 {
			last = len(src) + 1
			break
		}
		last += i + 1
		if last >= end && last > start {
			break
		}
	}
	code := src[first:max(first, min(last-1, len(src)))]
	if len(code) > maxSnippetBytes { // one very long line: only the text around the place
		first = max(first, start-maxSnippetBytes/4)
		code = src[first:min(first+maxSnippetBytes, len(src))]
	}
	return &diag.Snippet{
		Code:           validText(code),
		StartLine:      r.Start.Line,
		HighlightStart: min(start-first, len(code)),
		HighlightEnd:   min(end-first, len(code)),
	}
}
