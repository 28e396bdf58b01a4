package render

import (
	"fmt"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/ui/jsondiff"
	"deployster/plan"
)

// writeScheduled prints the scheduled operations that change.
func writeScheduled(b *strings.Builder, p *plan.Plan, o Options) {
	names := p.ScheduledNames()
	if len(names) == 0 {
		return
	}
	b.WriteString("Operations that a watch runs:\n")
	for _, name := range names {
		one := p.Operations[name]
		if one.Removed {
			fmt.Fprintf(b, "  - %s (no longer run)\n", name)
			continue
		}
		fmt.Fprintf(b, "  %s: %q on %s, at %q in UTC", name, diag.Visible(one.Run), one.Resource, diag.Visible(one.Schedule))
		if string(one.Input) != "{}" {
			fmt.Fprintf(b, ", with %s", jsondiff.TextWithin(jsondiff.Value{JSON: one.Input, Sensitive: one.Sensitive}, 2, MaxPage, o.Hide))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}
