package terminal

import (
	"fmt"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/natural"
	"deployster/internal/base/words"
	"deployster/internal/ui/paint"
	"deployster/internal/ui/render"
)

// Diagnostics prints a list, with an empty line between two. A diagnostic that is the
// same for several resources, such as the instances of one block, is printed once.
func (p Printer) Diagnostics(list diag.Diagnostics) {
	type same struct{ severity, summary, detail, place, action string }
	first, others := map[same]int{}, map[int][]string{}
	for i, d := range list {
		key := same{fmt.Sprint(d.Severity), d.Summary, d.Detail, fmt.Sprint(d.Range), d.Action}
		if j, seen := first[key]; seen && d.Address != list[j].Address {
			others[j] = append(others[j], d.Address)
			others[i] = nil
			continue
		}
		first[key] = i
	}
	printed := 0
	for i, d := range list {
		if more, folded := others[i]; folded && more == nil {
			continue
		}
		if printed++; printed > 1 {
			p.Raw("\n")
		}
		p.Diagnostic(d)
		if more := others[i]; len(more) > 0 {
			all := append([]string{d.Address}, more...)
			natural.Sort(all)
			p.Printf("  The same applies to %s: %s.\n", words.Count(len(all), "resource"), render.Names(all, 3))
		}
	}
}

// Diagnostic prints a diagnostic: what happened, where with the source line, and what to do.
func (p Printer) Diagnostic(d *diag.Diagnostic) {
	label := paint.Bold(paint.Red("Error:"))
	if d.Severity == diag.Warning {
		label = paint.Bold(paint.Yellow("Warning:"))
	}
	p.Printf("%s %s\n", label, paint.Bold(diag.Visible(d.Summary)))
	if where := place(d); where != "" {
		p.Printf("  %s\n", where)
	}
	if d.Snippet != nil {
		p.snippet(d.Snippet)
	}
	if d.Detail != "" {
		width := 0
		if p.Width != nil {
			width = p.Width()
		}
		for line := range strings.SplitSeq(strings.TrimRight(d.Detail, "\n"), "\n") {
			p.Printf("%s\n", paint.Wrap(strings.TrimRight("  "+diag.Visible(line), " "), width))
		}
	}
}

// place returns where the problem is, on one line.
func place(d *diag.Diagnostic) string {
	var parts []string
	if d.Range != nil {
		parts = append(parts, "at "+d.Range.String())
	}
	if d.Snippet != nil && d.Snippet.Context != "" {
		parts = append(parts, "in "+diag.Visible(d.Snippet.Context))
	} else if d.Address != "" {
		parts = append(parts, diag.Visible(d.About()))
	}
	if d.Action != "" {
		parts = append(parts, "step "+diag.Visible(d.Action))
	}
	return strings.Join(parts, ", ")
}

// snippet shows source lines with the exact part underlined.
func (p Printer) snippet(s *diag.Snippet) {
	offset := 0
	for i, line := range strings.Split(s.Code, "\n") {
		number := fmt.Sprintf("%5d", s.StartLine+i)
		p.Printf("%s %s\n", paint.Dim(number+" |"), diag.Visible(strings.TrimSuffix(line, "\r")))
		from, to := max(s.HighlightStart-offset, 0), min(s.HighlightEnd-offset, len(line))
		if s.HighlightStart == offset+len(line) { // the highlight is at the end of the line
			to = from
		}
		if from < to || s.HighlightStart == offset+len(line) {
			lead, mark := diag.Visible(line[:from]), diag.Visible(line[from:to])
			p.Printf("%s %s%s\n", paint.Dim("      |"), blank(lead), paint.Red(strings.Repeat("^", max(1, len([]rune(mark))))))
		}
		offset += len(line) + 1
	}
	for _, v := range s.Values {
		p.Printf("%s %s\n", paint.Dim("      |"), diag.Visible(v.Name+" "+v.Text))
	}
}

// blank returns spaces of the same width; a tab stays a tab, as it may be wider.
func blank(lead string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, lead)
}
