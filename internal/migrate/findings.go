package migrate

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/internal/base/diag"
)

// findings collects what cannot be migrated, and what a person has to check.
type findings struct {
	problems diag.Diagnostics
	notes    []note
}

// refuse reports something that cannot be migrated, and where.
func (f *findings) refuse(at hcl.Range, what, format string, args ...any) {
	d := diag.Errorf(what, format, args...)
	if at.Filename != "" {
		d.Detail = fmt.Sprintf("%s:%d: %s", at.Filename, at.Start.Line, d.Detail)
	}
	f.problems = append(f.problems, d)
}

// note reports something that a person has to check; the same in several places is reported once.
func (f *findings) note(at hcl.Range, format string, args ...any) {
	text, where := fmt.Sprintf(format, args...), fmt.Sprintf("%s:%d", at.Filename, at.Start.Line)
	for i := range f.notes {
		if f.notes[i].text == text {
			f.notes[i].places = append(f.notes[i].places, where)
			return
		}
	}
	f.notes = append(f.notes, note{text, []string{where}})
}

// note is what a person has to check, in some places.
type note struct {
	text   string
	places []string
}

func (n note) String() string {
	const shown = 3
	places := strings.Join(n.places[:min(shown, len(n.places))], ", ")
	if more := len(n.places) - shown; more > 0 {
		places += fmt.Sprintf(" and %d more", more)
	}
	return places + ": " + n.text
}

// parse parses a file in HCL; nil when it is not valid.
func (f *findings) parse(text []byte, name string) *hclsyntax.Body {
	file, diags := hclsyntax.ParseConfig(text, name, hcl.InitialPos)
	if diags.HasErrors() {
		f.problems = append(f.problems, diag.Errorf("Cannot read the configuration", "%s.", diags.Error()))
		return nil
	}
	body, _ := file.Body.(*hclsyntax.Body)
	return body
}
