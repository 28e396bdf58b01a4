package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/artifactlines"
	"deployster/internal/ui/clusterlines"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/paint"
	"deployster/internal/ui/policylines"
	"deployster/plan"
	"deployster/plan/exclusive"
	"deployster/plan/reason"
)

// Plan returns the text of a plan, for a person who decides about it.
func Plan(p *plan.Plan, o Options) string {
	var b strings.Builder
	changes, ignored := classify(p, o)
	b.WriteString(artifactlines.Table(p.Artifacts))
	if words := legend(p); len(changes) > 0 && words != "" {
		fmt.Fprintf(&b, "%s\n\n", words)
	}
	if o.Compact {
		writeCompact(&b, p, changes)
	} else {
		writeBlocks(&b, blocksOf(p, changes, o), o)
	}
	if len(ignored) > 0 {
		fmt.Fprintf(&b, "Changes of the manifest that ignore_changes ignores: %s.\n\n", JoinNames(ignored, o))
	}
	writeLater(&b, p, o)
	b.WriteString(exclusive.Text(p.Exclusive, o.All()))
	writeOutputs(&b, p, o)
	writeScheduled(&b, p, o)
	writeNoRollback(&b, p, o)
	b.WriteString(Checks(p.Checks) + policylines.Text(p.Policies) + p.WithoutRoot())
	b.WriteString(clusterlines.Of(p, changes))
	writeTransfers(&b, p)
	writeRemotes(&b, p)
	writeUnreachable(&b, p)
	b.WriteString(Summary(p) + "\n")
	return b.String()
}

// writeUnreachable prints the hosts that could not be reached, and what is left for that.
func writeUnreachable(b *strings.Builder, p *plan.Plan) {
	some := len(p.Unreached) > 0
	for _, name := range slices.Sorted(maps.Keys(p.Hosts)) {
		if pin := p.Hosts[name]; pin.Unreachable != "" {
			fmt.Fprintf(b, "%s %s (%s) is unreachable: %s\n", paint.Red("!"), diag.Visible(name), diag.Visible(pin.Address),
				diag.Visible(pin.Unreachable))
			some = true
		}
	}
	awaited, others := reason.Awaited(p.Unreached), maps.Clone(p.Unreached)
	for addr := range awaited {
		delete(others, addr)
	}
	for _, left := range []struct {
		title string
		of    map[string]*reason.Reason
	}{{"An apply of this plan is incomplete. Left unchanged:", others}, {"Left for a later plan:", awaited}} {
		if len(left.of) > 0 {
			fmt.Fprintf(b, "  %s\n", left.title)
		}
		for _, line := range reason.Lines(left.of, 10) {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
	if some {
		b.WriteByte('\n')
	}
}

// classify returns the addresses that the plan shows, and those with ignored changes,
// described.
func classify(p *plan.Plan, o Options) (changes, ignored []string) {
	for _, addr := range p.Order() {
		step := p.Resources[addr]
		if len(step.Ignored) > 0 {
			ignored = append(ignored, fmt.Sprintf("%s (%s)", diag.Visible(addr), ignoredChanges(step)))
		}
		if !step.Quiet() || o.Verbose {
			changes = append(changes, addr)
		}
	}
	return changes, ignored
}

// JoinNames joins names with commas, at most a few lines of them.
func JoinNames(names []string, o Options) string {
	if o.All() {
		return words.All(names)
	}
	return words.List(names, 40)
}

// ignoredChanges returns the paths in a config whose changes ignore_changes ignores.
func ignoredChanges(s *plan.Step) string {
	paths := make([]string, len(s.Ignored))
	for i, pointer := range s.Ignored {
		if paths[i] = jsondiff.Path(pointer); pointer == "" {
			paths[i] = "the whole config"
		}
	}
	return strings.Join(paths, ", ")
}

// writeBlocks prints the first blocks in full, those that destroy first, then others as
// lines, and counts the rest.
func writeBlocks(b *strings.Builder, blocks []*block, o Options) {
	order := make([]int, len(blocks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return urgency(blocks[y]) - urgency(blocks[x]) })
	full, brief := map[int]bool{}, map[int]bool{}
	for _, i := range order {
		switch {
		case o.All() || len(full) < MaxBlocks && blocks[i].detail != nil:
			full[i] = true
		case len(brief) < maxLines:
			brief[i] = true
		}
	}
	rest := map[plan.Change]int{}
	for i, block := range blocks {
		switch {
		case full[i]:
			block.write(b, o)
		case !brief[i]:
			rest[cmp.Or(block.step.Expected(), block.step.Shown())] += len(block.addrs)
		}
	}
	if len(brief) == 0 {
		return
	}
	fmt.Fprintf(b, "In a line each, as these are many:\n")
	for i, block := range blocks {
		if brief[i] {
			fmt.Fprintf(b, "  %s\n", block.line())
		}
	}
	var more []string
	for _, c := range changeWords {
		if n := rest[c.change]; n > 0 {
			more = append(more, words.Thousands(n)+" "+c.summary)
		}
	}
	if len(more) > 0 {
		fmt.Fprintf(b, "  and more that are not shown: %s. -compact shows each in a line, -verbose in full.\n", strings.Join(more, ", "))
	}
	b.WriteByte('\n')
}

// urgency returns 1 for a block that must not be overlooked.
func urgency(b *block) int {
	switch b.step.Shown() {
	case plan.Destroy, plan.Replace, plan.ReadFailed:
		return 1
	}
	return 0
}

// maxAddress is the maximum width of the column of addresses.
const maxAddress = 80

// writeCompact prints a line for each resource.
func writeCompact(b *strings.Builder, p *plan.Plan, addrs []string) {
	width := 0
	for _, addr := range addrs {
		width = max(width, min(maxAddress, paint.Width(diag.Visible(addr))))
	}
	for _, addr := range addrs {
		s := p.Resources[addr]
		symbol, _ := mark(s)
		line := fmt.Sprintf("%s %s  %s", symbol, paint.Fill(paint.Bold(diag.Visible(addr)), width), paint.Dim(outline(s)))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		for _, note := range s.Remarks() {
			fmt.Fprintf(b, "    %s\n", oneLine(note.Words()))
		}
	}
	if len(addrs) > 0 {
		b.WriteByte('\n')
	}
}

// MaxPage is the maximum length, in bytes, of a value that may fill a page: an output, a
// state.
const MaxPage = 8000

// writeOutputs prints the outputs whose values change.
func writeOutputs(b *strings.Builder, p *plan.Plan, o Options) {
	shown, left := 0, 0
	for _, name := range slices.Sorted(maps.Keys(p.Outputs)) {
		out := p.Outputs[name]
		switch {
		case !out.Changed:
			continue
		case shown >= MaxBlocks && !o.All():
			left++
			continue
		case shown == 0:
			b.WriteString("Outputs that change:\n")
		}
		shown++
		if out.Removed {
			fmt.Fprintf(b, "  - %s (output removed)\n", name)
			continue
		}
		v := jsondiff.Value{JSON: out.Value, Unknown: out.Unknown}
		if out.Sensitive {
			v.Sensitive = []string{""}
		}
		fmt.Fprintf(b, "  %s = %s\n", name, jsondiff.TextWithin(v, 2, MaxPage, o.Hide))
	}
	if left > 0 {
		fmt.Fprintf(b, "  and %s more\n", words.Thousands(left))
	}
	if shown > 0 {
		b.WriteByte('\n')
	}
}

// Checks returns the numbers of check blocks by status, and the messages of those that
// failed.
func Checks(list []config.CheckResult) string {
	if len(list) == 0 {
		return ""
	}
	counts := map[config.CheckStatus]int{}
	for _, c := range list {
		counts[c.Status]++
	}
	var parts []string
	for _, s := range []struct {
		status config.CheckStatus
		words  string
	}{{config.CheckPass, "passed"}, {config.CheckFail, "failed"}, {config.CheckUnknown, "known after apply"}} {
		if n := counts[s.status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.words))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Checks: %s.\n", strings.Join(parts, ", "))
	for _, c := range list {
		if c.Status == config.CheckFail {
			gate := ""
			if c.Gate {
				gate = " (gate)"
			}
			fmt.Fprintf(&b, "  %s %s%s: %s\n", paint.Yellow("!"), c.Name, gate, strings.Join(c.Messages, " "))
		}
	}
	return b.String()
}
