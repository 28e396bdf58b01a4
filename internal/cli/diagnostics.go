package cli

import (
	"fmt"
	"io"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/ui/render"
)

// printer writes for people. Its methods end what they write with a newline.
type printer struct {
	out     io.Writer
	hide    func(string) string // takes secrets out; nil = there are none
	style   style
	verbose bool
	tell    func(*diag.Diagnostic) // gets each diagnostic too; nil = nobody
	events  bool                   // whoever it tells is the only one who wants them
	compact bool
	width   func() int // cells of the terminal; nil = it is none
}

// options say how what is printed is rendered.
func (p printer) options() render.Options {
	o := render.Options{Verbose: p.verbose, Compact: p.compact, Hide: p.hide}
	if p.width != nil {
		o.Width = p.width()
	}
	return o
}

// printf is the one place through which text reaches a person: secrets are
// taken out of it here, and nothing in it can steer a terminal.
func (p printer) printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.hide != nil {
		text = p.hide(text)
	}
	p.raw(render.Colors(diag.Visible(text), p.style.on))
}

// raw writes for programs: a text as it is. That nobody reads any more must not
// stop an apply.
func (p printer) raw(text string) { _, _ = io.WriteString(p.out, text) }

// json writes JSON for programs. What a terminal might obey is escaped, as JSON
// allows.
func (p printer) json(content []byte) {
	var b strings.Builder
	for _, r := range string(content) {
		if r != '\n' && r != '\t' && diag.Visible(string(r)) != string(r) && r < 0x10000 {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	p.raw(strings.TrimRight(b.String(), "\n") + "\n")
}

// diagnostics prints a list, with an empty line between two. What is so for many
// resources, such as the instances of one block, is said once.
func (p printer) diagnostics(list diag.Diagnostics) {
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
			if p.tell != nil {
				p.tell(d)
			}
			continue
		}
		if printed++; printed > 1 && !p.events {
			p.raw("\n")
		}
		p.diagnostic(d)
		if more := others[i]; len(more) > 0 && !p.events {
			p.printf("  It is the same for %s: %s.\n", count(len(more)+1, "resource"), render.Names(append([]string{d.Address}, more...), 5))
		}
	}
}

// diagnostic prints one: what, where with the source line, and what to do.
func (p printer) diagnostic(d *diag.Diagnostic) {
	if p.tell != nil {
		p.tell(d)
	}
	if p.events {
		return
	}
	label := p.style.bold(p.style.red("Error:"))
	if d.Severity == diag.Warning {
		label = p.style.bold(p.style.yellow("Warning:"))
	}
	p.printf("%s %s\n", label, p.style.bold(diag.Visible(d.Summary)))
	if where := place(d); where != "" {
		p.printf("  %s\n", where)
	}
	if d.Snippet != nil {
		p.snippet(d.Snippet)
	}
	if d.Detail != "" {
		width := 0
		if p.width != nil {
			width = p.width()
		}
		for line := range strings.SplitSeq(strings.TrimRight(d.Detail, "\n"), "\n") {
			p.printf("%s\n", render.Wrap(strings.TrimRight("  "+diag.Visible(line), " "), width))
		}
	}
}

// place says where in one line.
func place(d *diag.Diagnostic) string {
	var parts []string
	if d.Range != nil {
		parts = append(parts, "at "+d.Range.String())
	}
	if d.Snippet != nil && d.Snippet.Context != "" {
		parts = append(parts, "in "+diag.Visible(d.Snippet.Context))
	} else if d.Address != "" {
		parts = append(parts, "resource "+diag.Visible(d.Address))
	}
	if d.Action != "" {
		parts = append(parts, "step "+diag.Visible(d.Action))
	}
	return strings.Join(parts, ", ")
}

// snippet shows source lines with the exact part underlined.
func (p printer) snippet(s *diag.Snippet) {
	offset := 0
	for i, line := range strings.Split(s.Code, "\n") {
		number := fmt.Sprintf("%5d", s.StartLine+i)
		p.printf("%s %s\n", p.style.dim(number+" |"), diag.Visible(line))
		from, to := max(s.HighlightStart-offset, 0), min(s.HighlightEnd-offset, len(line))
		if s.HighlightStart == offset+len(line) { // the end of the line is at fault
			to = from
		}
		if from < to || s.HighlightStart == offset+len(line) {
			lead, mark := diag.Visible(line[:from]), diag.Visible(line[from:to])
			p.printf("%s %s%s\n", p.style.dim("      |"), blank(lead), p.style.red(strings.Repeat("^", max(1, len([]rune(mark))))))
		}
		offset += len(line) + 1
	}
	for _, v := range s.Values {
		p.printf("%s %s\n", p.style.dim("      |"), diag.Visible(v.Name+" "+v.Text))
	}
}

// blank gives the same width in spaces; a tab stays one, as it may be wider.
func blank(lead string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, lead)
}
