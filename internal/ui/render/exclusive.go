package render

import (
	"fmt"
	"strings"

	"deployster/internal/ui/paint"
	"deployster/plan"
)

// writeExclusive prints what the plan found about the exclusive blocks.
func writeExclusive(b *strings.Builder, p *plan.Plan, o Options) {
	most := 10
	if o.all() {
		most = 1 << 20
	}
	for i := range p.Exclusive {
		s := &p.Exclusive[i]
		mark := " "
		if len(s.Undone) > 0 || len(s.Held) > 0 {
			mark = paint.Yellow("!")
		} else if len(s.Purge) > 0 {
			mark = paint.Red("-")
		}
		fmt.Fprintf(b, "%s %s\n", mark, s.Head())
		for _, line := range s.Lines(most) {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
	if len(p.Exclusive) > 0 {
		b.WriteByte('\n')
	}
}
