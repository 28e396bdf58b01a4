package render

import (
	"fmt"
	"strings"

	"deployster/plan"
	"deployster/protocol"
)

// writeNoRollback prints what no rollback restores: objects that the plan destroys.
func writeNoRollback(b *strings.Builder, p *plan.Plan, o Options) {
	var names []string
	for _, addr := range p.Order() {
		step := p.Resources[addr]
		if step.Change() == plan.Replace || step.Change() == plan.Destroy || protocol.Destructive(step.Answer().Shutdown,
			step.Answer().Actions) != "" {
			names = append(names, addr)
		}
	}
	if len(names) > 0 && !p.Selection.Destroy {
		fmt.Fprintf(b, "no rollback: destructive action (%s)\n\n", JoinNames(names, o))
	}
}
