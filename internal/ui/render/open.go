package render

import (
	"fmt"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/paint"
	"deployster/plan"
)

// LeftOpen lists the resources whose change apply may decide itself, because the plan
// cannot show it, and what becomes of what waits for a later round; "" if there are none.
func LeftOpen(p *plan.Plan) string {
	open, later := p.LeftOpen(), laterOfSaved(p)
	if len(open) == 0 {
		return later
	}
	width := 0
	for _, addr := range open[:min(maxLines, len(open))] {
		width = max(width, min(40, paint.Width(diag.Visible(addr))))
	}
	var b strings.Builder
	b.WriteString("Apply decides about these without a prompt, unless -deferred changes that:\n")
	for i, addr := range open {
		if i == maxLines {
			fmt.Fprintf(&b, "  and %s more\n", words.Thousands(len(open)-i))
			break
		}
		s := p.Resources[addr]
		what, why := "may change", s.Reason.Words()
		switch s.Change() {
		case plan.Deferred:
			what = "deferred"
			if s.Expected() != "" {
				what += ", expected to " + string(s.Expected())
			}
		case plan.Replace:
			what, why = "replace", "how it is created again is known when the old one is destroyed"
		}
		fmt.Fprintf(&b, "  %s  %s: %s\n", paint.Fill(diag.Visible(addr), width), what, oneLine(why))
	}
	return b.String() + "\n" + later
}
