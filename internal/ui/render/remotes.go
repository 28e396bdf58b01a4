package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/plan"
)

// Remotes returns a line for each remote_state block of which a plan uses something.
func Remotes(p *plan.Plan) (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(p.Remote)) {
		r := p.Remote[name]
		used := slices.Sorted(maps.Keys(r.Outputs))
		if len(used) == 0 {
			continue
		}
		lines = append(lines, diag.Visible(fmt.Sprintf("remote_state.%s is serial %d of %s, and %s used", name, r.Serial, r.URL,
			words.List(used, 3)+isOrAre(len(used)))))
	}
	return lines
}

func isOrAre(n int) string {
	if n == 1 {
		return " is"
	}
	return " are"
}

// writeRemotes prints what a plan uses of other states.
func writeRemotes(b *strings.Builder, p *plan.Plan) {
	lines := Remotes(p)
	for _, line := range lines {
		b.WriteString(line + ".\n")
	}
	if len(lines) > 0 {
		b.WriteByte('\n')
	}
}
