package render

import (
	"fmt"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/jsondiff"
	"deployster/plan"
)

// driftWords are the words for each status, in the order of a summary.
var driftWords = []struct {
	status          plan.DriftStatus
	symbol, summary string
	words           string
}{
	{plan.Drifted, Yellow("~"), "drifted", "has drifted"},
	{plan.Gone, Red("-"), "gone", "is gone"},
	{plan.DriftFailed, Red("!"), "that could not be asked", "could not be asked"},
	{plan.DriftChanged, Dim("m"), "changed in the manifest", "is changed in the manifest"},
	{plan.DriftUndeclared, Dim("m"), "declared no more", "is declared no more"},
	{plan.DriftUnrecorded, Dim("m"), "not applied yet", "is not applied yet"},
	{plan.DriftNone, " ", "as recorded", "is as declared"},
}

// Drift returns the report of drift.
func Drift(r *plan.DriftReport, o Options) string {
	var b strings.Builder
	shown, left := 0, 0
	for _, words := range driftWords {
		for _, addr := range r.Order() {
			d := r.Resources[addr]
			if d.Status != words.status || d.Status == plan.DriftNone && d.Reason == "" && !o.Verbose {
				continue
			}
			if shown++; shown > maxBlocks && !o.Verbose {
				left++
				continue
			}
			fmt.Fprintf(&b, "%s %s %s  %s\n", words.symbol, Bold(diag.Visible(addr)), words.words, Dim("("+diag.Visible(d.Type)+")"))
			writeDrift(&b, d, o)
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "and %s more. -verbose shows all.\n", words.Thousands(left))
	}
	if shown > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(DriftSummary(r) + "\n")
	return b.String()
}

// writeDrift prints what stands below the header of a resource.
func writeDrift(b *strings.Builder, d *plan.ResourceDrift, o Options) {
	if d.Reason != "" {
		fmt.Fprintf(b, "    %s\n", Dim(diag.Visible(d.Reason)))
	}
	if d.Known {
		fmt.Fprintf(b, "    %s\n", Dim("known: the baseline has it like this"))
	}
	if len(d.Was) == 0 || len(d.Found) == 0 {
		return
	}
	part := detail{}
	diff := jsondiff.Compare(jsondiff.Value{JSON: d.Was, Sensitive: d.Hidden}, jsondiff.Value{JSON: d.Found, Sensitive: d.Hidden},
		jsondiff.Options{Hide: o.Hide, Missing: true, Extra: true})
	part.unchanged, part.more = diff.Unchanged, diff.More
	for _, r := range diff.Rows {
		part.rows = append(part.rows, row{Row: r})
	}
	for _, reason := range d.Reasons {
		if reason.Message != "" {
			part.remarks = append(part.remarks, clean(o.Hide, reason.Message))
		}
	}
	part.write(b, o)
}

// DriftSummary returns the last line of Drift.
func DriftSummary(r *plan.DriftReport) string {
	s := r.Summary
	n := map[plan.DriftStatus]int{plan.DriftNone: s.Valid, plan.Drifted: s.Drifted, plan.Gone: s.Gone, plan.DriftChanged: s.Changed,
		plan.DriftUndeclared: s.Undeclared, plan.DriftUnrecorded: s.Unrecorded, plan.DriftFailed: s.Failed}
	var parts []string
	for _, w := range driftWords {
		if n[w.status] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[w.status], w.summary))
		}
	}
	head := Bold("No drift.")
	switch {
	case s.Failed > 0:
		head = Bold("Not everything could be asked.")
	case r.Status == plan.Drifted:
		head = Bold(Yellow("Drift."))
	case s.Known > 0:
		head = Bold("No drift that is not known.")
	}
	if s.Known > 0 {
		parts = append(parts, fmt.Sprintf("%d of these known", s.Known))
	}
	if len(parts) == 0 {
		return head + " No resources are declared, and none are recorded."
	}
	return head + " Resources: " + strings.Join(parts, ", ") + "."
}
