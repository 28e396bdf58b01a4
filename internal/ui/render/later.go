package render

import (
	"fmt"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/paint"
	"deployster/plan"
)

// KnownAfter stands for the keys of a block that are not known yet.
const KnownAfter = "(known after apply)"

// LaterName returns the name of what waits for a later round: a block with the keys that are not known.
func LaterName(addr string, l plan.Later) string {
	if l.Sort == plan.LaterBlock {
		return addr + "[" + KnownAfter + "]"
	}
	return addr
}

// Later returns a line for each block that waits for a later round, and for the resources that wait for one, with the first
// most addresses of each reason. kept are the recorded addresses with which nothing is done until then.
func Later(p *plan.Plan, most int) (lines []string, kept string) {
	for _, addr := range p.LaterOf(plan.LaterBlock) {
		l := p.Later[addr]
		lines = append(lines, fmt.Sprintf("%s is deferred: %s", diag.Visible(LaterName(addr, l)), diag.Visible(l.Reason.Words())))
	}
	waiting, many, order := map[string][]string{}, map[string]string{}, []string(nil)
	for _, addr := range p.LaterOf(plan.LaterResource) {
		why := p.Later[addr].Reason.Words()
		if waiting[why] == nil {
			order, many[why] = append(order, why), p.Later[addr].Reason.OfMany()
		}
		waiting[why] = append(waiting[why], diag.Visible(addr))
	}
	for _, why := range order {
		text := " is deferred: " + why
		if len(waiting[why]) > 1 {
			text = " are deferred: " + many[why]
		}
		lines = append(lines, words.List(waiting[why], most)+diag.Visible(text))
	}
	if entries := p.LaterOf(plan.LaterEntry); len(entries) > 0 {
		for i := range entries {
			entries[i] = diag.Visible(entries[i])
		}
		kept = words.List(entries, most)
	}
	return lines, kept
}

// writeLater prints what waits for a later round of the apply.
func writeLater(b *strings.Builder, p *plan.Plan, o Options) {
	if len(p.Later) == 0 {
		return
	}
	most := 10
	if o.All() {
		most = len(p.Later)
	}
	lines, kept := Later(p, most)
	for _, line := range lines {
		fmt.Fprintf(b, "%s %s\n", paint.Cyan("?"), line)
	}
	if kept != "" {
		fmt.Fprintf(b, "  Until then these keep what is recorded: %s.\n", kept)
	}
	if len(lines) > 0 {
		b.WriteString("  They are planned again when that is known.\n\n")
	}
}

// laterOfSaved reports what the apply of a saved plan does with what waits for a later round; "" = nothing waits.
func laterOfSaved(p *plan.Plan) string {
	switch {
	case !p.Continues():
		return ""
	case p.Selection.Deferred == "apply":
		return "Apply continues with what is deferred to a later round, as this plan was saved with -deferred=apply.\n\n"
	}
	return "Apply does what is shown, and stops before what is deferred to a later round. With `plan -deferred=apply` it continues.\n\n"
}
