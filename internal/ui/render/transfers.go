package render

import (
	"fmt"
	"strings"

	"deployster/internal/base/diag"
	"deployster/plan"
)

// Transfers returns a line for each resource that has gone to another state, or has come from one, and with which no
// apply has agreed yet.
func Transfers(p *plan.Plan) (lines []string) {
	for _, t := range p.Transfers {
		line := fmt.Sprintf("%s was transferred to %s", t.Address, t.Other().State)
		switch as := t.Other().Address; {
		case t.To == nil && as == t.Address:
			line = fmt.Sprintf("%s came from %s", t.Address, t.Other().State)
		case t.To == nil:
			line = fmt.Sprintf("%s came from %s, where it was %s", t.Address, t.Other().State, as)
		case as != t.Address:
			line += " as " + as
		}
		lines = append(lines, diag.Visible(line))
	}
	return lines
}

// writeTransfers prints what has gone to other states, and has come from there.
func writeTransfers(b *strings.Builder, p *plan.Plan) {
	for _, line := range Transfers(p) {
		b.WriteString(line + ".\n")
	}
	if len(p.Transfers) > 0 {
		b.WriteByte('\n')
	}
}
