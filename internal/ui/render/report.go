package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"deployster/apply"
	"deployster/internal/base/diag"
	"deployster/internal/base/natural"
	"deployster/internal/base/words"
	"deployster/internal/ui/paint"
	"deployster/plan"
)

// Report returns the report of an apply: a table of the results, the failures, and the
// numbers. took has the duration of each resource.
func Report(p *plan.Plan, r *apply.Report, took map[string]time.Duration, o Options) string {
	var b strings.Builder
	b.WriteString(resultTable(p, r, took, o))
	if r.Status != apply.OK {
		writeUnfinished(&b, p, r, o)
	}
	did := "Apply"
	if p.Selection.Destroy {
		did = "Destroy"
	}
	headline := paint.Green(did + " complete.")
	switch {
	case r.Status == apply.Interrupted:
		headline = paint.Yellow(did + " interrupted.")
	case r.Status == apply.Incomplete:
		headline = paint.Yellow(did + " incomplete.")
	case r.Status != apply.OK:
		headline = paint.Red(did + " failed.")
	case !p.HasChanges():
		return b.String() // the plan has shown already that there is nothing to do
	}
	if parts := totals(p, r); len(parts) > 0 {
		fmt.Fprintf(&b, "\n%s Resources: %s.%s\n", paint.Bold(headline), strings.Join(parts, ", "), hostTotals(r))
	} else {
		fmt.Fprintf(&b, "\n%s The outputs were recorded.\n", paint.Bold(headline))
	}
	return b.String()
}

// hostTotals returns the numbers of hosts by status; "" if there are none.
func hostTotals(r *apply.Report) string {
	if len(r.Hosts) == 0 {
		return ""
	}
	counts := map[apply.Status]int{}
	for _, h := range r.Hosts {
		counts[h.Status]++
	}
	parts := []string{fmt.Sprintf("%d ok", counts[apply.OK])}
	for _, of := range []struct {
		status apply.Status
		word   string
	}{{apply.Error, "failed"}, {apply.Unknown, "unknown"}, {apply.Unreachable, "unreachable"}, {apply.Interrupted, "interrupted"},
		{apply.NotStarted, "not started"}, {apply.Left, "left"}} {
		if n := counts[of.status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, of.word))
		}
	}
	return " Hosts: " + strings.Join(parts, ", ") + "."
}

func totals(p *plan.Plan, r *apply.Report) []string {
	counts, done := r.Counts(), map[string]int{}
	for addr, res := range r.Resources {
		switch step := p.Resources[addr]; {
		case step == nil:
		case res.Status == apply.OK:
			done[ended(step, res)]++
		case res.Status == apply.Unchanged && step.Adopts():
			done[ended(step, res)]++
			counts[apply.Unchanged]--
		}
	}
	var parts []string
	add := func(n int, word string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	for _, word := range []string{"created", "updated", "replaced", "destroyed", "forgotten", "published", "adopted", "recorded", "done"} {
		add(done[word], word)
	}
	add(counts[apply.Skipped]+counts[apply.Unchanged], "unchanged")
	add(counts[apply.Kept], "kept in the state")
	add(counts[apply.Error], "failed")
	add(counts[apply.Unknown], "unknown")
	add(counts[apply.Interrupted], "interrupted")
	add(counts[apply.NotStarted], "not started")
	add(counts[apply.Left], "left")
	if len(r.Moves) > 0 {
		add(p.Summary.Move, "moved") // as the plan counts: deposed resources are not included
	}
	return parts
}

// ended returns the word for the result of a successful step: for a deferred one the
// change that it turned out to need, or the expected one.
func ended(s *plan.Step, res *apply.ResourceReport) string {
	switch {
	case res.Became != "":
		return Past(res.Became)
	case s.Expected() != "":
		return Past(s.Expected())
	case s.Adopts() && s.Publishes:
		return Past(plan.Publish)
	case s.Adopts() && s.Made():
		return Past(plan.Create)
	case s.Adopts():
		return "adopted"
	}
	return Past(s.Shown())
}

// result is a row of the table: one resource, or several of one block with the same
// result.
type result struct {
	addrs          []string
	change         plan.Change
	actions, words string
	least, most    time.Duration
	failed         bool // it is printed at the end, where people read
	paint          func(string) string
}

// The limits of the table: more than maxResults rows are folded by block, and at most
// maxFoldedLines are printed.
const (
	maxResults     = 25
	maxFoldedLines = 60
)

// resultTable lists the results, in the order of the plan; "" when there are none.
func resultTable(p *plan.Plan, r *apply.Report, took map[string]time.Duration, o Options) string {
	var rows []*result
	for _, addr := range p.Order() {
		res := r.Resources[addr]
		step := p.Resources[addr]
		if res == nil || step == nil || res.Status == apply.Unchanged && !step.Made() {
			continue
		}
		rows = append(rows, resultOf(addr, step, res, took[addr]))
	}
	if len(rows) > maxResults && !o.All() && !o.Compact {
		rows = foldResults(rows)
	}
	if len(rows) == 0 {
		return ""
	}
	slices.SortStableFunc(rows, func(a, b *result) int {
		switch {
		case a.failed == b.failed:
			return 0
		case b.failed:
			return -1
		}
		return 1
	})
	var b strings.Builder
	b.WriteByte('\n')
	left := 0
	if !o.All() && !o.Compact && len(rows) > maxFoldedLines { // failures are at the end, and stay
		left = len(rows) - maxFoldedLines
		rows = rows[left:]
	}
	writeResults(&b, rows, o)
	if left > 0 {
		fmt.Fprintf(&b, "%s\n", paint.Dim(fmt.Sprintf("and %s more lines before these: -compact shows all", words.Thousands(left))))
	}
	return b.String()
}

func resultOf(addr string, s *plan.Step, res *apply.ResourceReport, took time.Duration) *result {
	row := &result{addrs: []string{addr}, change: s.Change(), least: took, most: took, paint: paint.Green}
	actions := slices.Clone(res.Completed)
	switch res.Status {
	case apply.OK, apply.Unchanged:
		row.words = ended(s, res)
	case apply.Skipped:
		row.words, row.paint = "unchanged", paint.Dim
	case apply.Kept:
		row.words, row.paint = "kept in the state", paint.Dim
	case apply.NotStarted:
		row.words, row.paint, row.failed = "not started", paint.Dim, true
	case apply.Interrupted:
		row.words, row.paint, row.failed = "interrupted", paint.Yellow, true
	case apply.Unknown:
		row.words, row.paint, row.failed = "unknown: "+oneLine(res.Failed), paint.Red, true
	default:
		row.words, row.paint, row.failed = "failed: "+oneLine(res.Failed), paint.Red, true
	}
	for i := range actions {
		actions[i] = oneLine(actions[i])
	}
	row.actions = words.List(actions, 3)
	return row
}

// foldResults merges the rows of one block with the same result.
func foldResults(rows []*result) []*result {
	by, out := map[string]*result{}, []*result(nil)
	for _, row := range rows {
		key := strings.Join([]string{Block(row.addrs[0]), string(row.change), row.actions, row.words}, "\x00")
		if first := by[key]; first != nil {
			first.addrs = append(first.addrs, row.addrs...)
			first.least, first.most = min(first.least, row.least), max(first.most, row.most)
			continue
		}
		by[key] = row
		out = append(out, row)
	}
	return out
}

// writeResults prints the table. It shortens the first column when that is too wide.
func writeResults(b *strings.Builder, rows []*result, o Options) {
	head := [4]string{"resource", "change", "actions", "time"}
	widths := [4]int{paint.Width(head[0]), paint.Width(head[1]), paint.Width(head[2]), paint.Width(head[3])}
	cells := make([][4]string, len(rows))
	limit := 50
	if o.Width > 0 {
		limit = max(20, o.Width-60)
	}
	for i, row := range rows {
		cells[i] = [4]string{paint.FitMiddle(diag.Visible(row.name()), limit), string(row.change), paint.Fit(row.actions, 30), row.time()}
		for c := range widths {
			widths[c] = max(widths[c], paint.Width(cells[i][c]))
		}
	}
	line := func(cells [4]string) string {
		for c := range cells {
			cells[c] = paint.Fill(cells[c], widths[c])
		}
		return strings.Join(cells[:], "  ")
	}
	fmt.Fprintf(b, "%s\n", paint.Dim(line(head)+"  result"))
	for i, row := range rows {
		fmt.Fprintf(b, "%s  %s\n", line(cells[i]), row.paint(row.words))
	}
}

func (r *result) name() string {
	if len(r.addrs) == 1 {
		return r.addrs[0]
	}
	return fmt.Sprintf("%s of %s", words.Thousands(len(r.addrs)), Block(r.addrs[0]))
}

func (r *result) time() string {
	switch {
	case r.most == 0:
		return "-"
	case r.least == r.most:
		return Took(r.most)
	}
	return Took(r.least) + " - " + Took(r.most)
}

// left lists what a plan leaves out because of hosts.
func left(r *apply.Report) []string {
	var list []string
	for addr, res := range r.Resources {
		if res.Status == apply.Left {
			list = append(list, addr)
		}
	}
	return natural.Sorted(slices.Values(list))
}

// writeUnfinished lists the resources that failed or were not started, in the order of the plan,
// and those that were left.
func writeUnfinished(b *strings.Builder, p *plan.Plan, r *apply.Report, o Options) {
	b.WriteByte('\n')
	failed, waiting := 0, 0
	seen := map[string]bool{}
	for _, addr := range slices.Concat(p.Order(), p.LaterDeclared(), left(r)) {
		res := r.Resources[addr]
		if res == nil || seen[addr] {
			continue
		}
		seen[addr] = true
		switch res.Status {
		case apply.Error, apply.Interrupted, apply.Unknown:
			if failed++; failed <= MaxBlocks || o.All() {
				writeFailed(b, addr, res)
			}
		case apply.NotStarted, apply.Left:
			if waiting++; waiting <= maxResults || o.All() {
				reason := ""
				if res.Reason != "" {
					reason = ": " + diag.Visible(res.Reason)
				}
				fmt.Fprintf(b, "  %s %s: %s%s\n", paint.Dim("."), diag.Visible(addr), strings.ReplaceAll(string(res.Status), "_", " "),
					reason)
			}
		}
	}
	if more := waiting - maxResults; more > 0 && !o.All() {
		fmt.Fprintf(b, "  %s and %s more that were not started or left\n", paint.Dim("."), words.Thousands(more))
	}
	if more := failed - MaxBlocks; more > 0 && !o.All() {
		fmt.Fprintf(b, "  %s and %s more that failed: -report FILE has all\n", paint.Red("x"), words.Thousands(more))
	}
}

// writeFailed prints what failed of a resource, and its last lines.
func writeFailed(b *strings.Builder, addr string, res *apply.ResourceReport) {
	fmt.Fprintf(b, "  %s %s: %s\n", paint.Red("x"), diag.Visible(addr), res.Status)
	if len(res.Completed) > 0 {
		fmt.Fprintf(b, "      completed: %s\n", diag.Visible(strings.Join(res.Completed, ", ")))
	}
	writeFailure(b, res)
	if len(res.NotAttempted) > 0 {
		fmt.Fprintf(b, "      not attempted: %s\n", diag.Visible(strings.Join(res.NotAttempted, ", ")))
	}
}

func writeFailure(b *strings.Builder, res *apply.ResourceReport) {
	word := "failed"
	switch {
	case res.Failed == "" && res.Reason != "":
		fmt.Fprintf(b, "      %s\n", diag.Visible(res.Reason))
		return
	case res.Failed == "":
		return
	case res.Status == apply.Unknown:
		word = "unknown how it ended"
	case res.Status == apply.Interrupted:
		word = "ended by the interrupt"
	}
	code := ""
	if res.ExitCode != 0 {
		code = fmt.Sprintf(", exit code %d", res.ExitCode)
	}
	fmt.Fprintf(b, "      %s: %s%s\n", word, diag.Visible(res.Failed), code)
	if res.Failed == apply.FailedReplace {
		fmt.Fprintf(b, "        %s\n", diag.Visible(res.Reason))
	}
	for _, line := range res.LastLines[max(0, len(res.LastLines)-3):] {
		fmt.Fprintf(b, "        %s %s\n", paint.Dim("|"), diag.Visible(line))
	}
}
