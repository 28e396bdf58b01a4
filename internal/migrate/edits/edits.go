package edits

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// List is the changes of a text.
type List struct {
	text []byte
	list []edit
}

// edit replaces a part of the text.
type edit struct {
	from, to int
	text     string
}

// Of returns no changes of a text.
func Of(text []byte) List { return List{text: text} }

// Replace gives a part another text.
func (l *List) Replace(at hcl.Range, text string) {
	l.list = append(l.list, edit{at.Start.Byte, at.End.Byte, text})
}

// Insert adds a text.
func (l *List) Insert(at int, text string) { l.list = append(l.list, edit{at, at, text}) }

// Literal replaces an expression by a text, also inside a template.
func (l *List) Literal(at hcl.Range, text string) {
	before, after := string(l.text[:at.Start.Byte]), string(l.text[at.End.Byte:])
	if strings.HasSuffix(before, "${") && strings.HasPrefix(after, "}") && !strings.HasSuffix(before, "$${") {
		at.Start.Byte -= 2
		at.End.Byte++
		l.Replace(at, text)
		return
	}
	l.Replace(at, strconv.Quote(text))
}

// Apply returns a part of the text with the changes.
func (l *List) Apply(at, end int) string {
	slices.SortStableFunc(l.list, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	for _, change := range l.list {
		if change.from < at {
			continue // inside another edit
		}
		b.Write(l.text[at:change.from])
		b.WriteString(change.text)
		at = change.to
	}
	b.Write(l.text[at:end])
	return b.String()
}
