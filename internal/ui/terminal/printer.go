package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"deployster/internal/base/diag"
	"deployster/internal/ui/events"
	"deployster/internal/ui/paint"
	"deployster/internal/ui/render"
)

// Printer prints text for people. Its methods end their output with a newline.
type Printer struct {
	Out     io.Writer
	Hide    func(string) string // hides secrets; nil = there are none
	Color   bool                // print colours
	Verbose bool                // print everything
	Compact bool                // one line for each resource
	Whole   bool                // no terminal: nothing is shortened
	Width   func() int          // cells of the terminal; nil = no terminal
}

// Options returns the options for rendering.
func (p Printer) Options() render.Options {
	o := render.Options{Verbose: p.Verbose, Compact: p.Compact, Whole: p.Whole, Hide: p.Hide}
	if p.Width != nil {
		o.Width = p.Width()
	}
	return o
}

// Printf is the one place through which text reaches a person: it hides secrets, and
// escapes everything that could control a terminal.
func (p Printer) Printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.Hide != nil {
		text = p.Hide(text)
	}
	p.Raw(paint.Colors(diag.Visible(text), p.Color))
}

// Success prints that a check succeeded, and more about it.
func (p Printer) Success(format string, args ...any) {
	p.Printf("%s %s\n", paint.Green("Success!"), fmt.Sprintf(format, args...))
}

// Raw writes a text unchanged, for programs. It ignores errors: an apply must not stop
// because it has no readers output.
func (p Printer) Raw(text string) { _, _ = io.WriteString(p.Out, text) }

// JSON writes a JSON document for programs, without secrets.
func (p Printer) JSON(content []byte) {
	if p.Hide != nil {
		content = events.RedactDocument(content, p.Hide)
	}
	p.Value(content)
}

// Value writes JSON for programs, with the secrets in it. Characters that may control a
// terminal are escaped, as JSON allows.
func (p Printer) Value(content []byte) {
	var b strings.Builder
	for _, r := range string(content) {
		if r != '\n' && r != '\t' && diag.Visible(string(r)) != string(r) && r < 0x10000 {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	p.Raw(strings.TrimRight(b.String(), "\n") + "\n")
}

// Document prints a document as JSON, without secrets.
func (p Printer) Document(document any) error {
	content, err := indented(document)
	if err == nil {
		p.JSON(content)
	}
	return err
}

// Values prints a document as JSON, with the secrets in it.
func (p Printer) Values(document any) error {
	content, err := indented(document)
	if err == nil {
		p.Value(content)
	}
	return err
}

func indented(document any) ([]byte, error) {
	var content bytes.Buffer
	enc := json.NewEncoder(&content)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(document)
	return content.Bytes(), err
}

// Table prints a table. It makes the cells safe first: a tab or a newline of an image
// must not shift other cells.
func (p Printer) Table(indent string, rows [][]string) {
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	flat := strings.NewReplacer("\n", `\n`, "\t", `\t`)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = flat.Replace(diag.Visible(cell))
		}
		_, _ = fmt.Fprintln(table, indent+strings.Join(cells, "\t"))
	}
	_ = table.Flush() // writing to memory does not fail
	for line := range strings.Lines(text.String()) {
		p.Printf("%s\n", strings.TrimRight(line, " \n"))
	}
}
