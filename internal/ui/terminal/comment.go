package terminal

import (
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/ui/markdown"
	"deployster/internal/ui/paint"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/plan/verdict"
)

// Comment prints a saved plan as a comment on a request, in Markdown. keys are the ids of
// the keys that signed it. Secrets are hidden in each of its texts: hiding them in the whole
// comment could also hide words of its markup.
func (p Printer) Comment(pl *plan.Plan, digest string, keys []string) {
	var text strings.Builder
	whole := p
	whole.Out, whole.Color, whole.Width, whole.Whole = &text, false, nil, true
	whole.Plan(pl)
	c := markdown.Comment{Summary: p.line(render.Summary(pl)), Text: text.String(), Keys: keys, Digest: digest}
	for _, addr := range pl.Order() {
		switch change := pl.Resources[addr].Shown(); change {
		case plan.Destroy, plan.Replace, plan.ReadFailed:
			c.Urgent = append(c.Urgent, markdown.Urgent{Address: p.line(addr), Change: strings.ReplaceAll(string(change), "_", " ")})
		}
	}
	for _, d := range verdict.Denied(pl.Policies) {
		c.Urgent = append(c.Urgent, markdown.Urgent{Address: p.line(d.Name), Change: "denied by policy"})
	}
	for _, o := range verdict.Overrides(pl.Policies) {
		c.Urgent = append(c.Urgent, markdown.Urgent{Address: p.line(o.Policy), Change: p.line("policy overridden: " + o.Reason)})
	}
	p.Raw(c.Markdown())
}

// line returns a text as a person may see it, without colours.
func (p Printer) line(text string) string {
	if p.Hide != nil {
		text = p.Hide(text)
	}
	return paint.Colors(diag.Visible(text), false)
}
