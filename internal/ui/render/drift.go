package render

import (
	"fmt"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/paint"
	"deployster/plan/drift"
)

// driftWords are the texts for each status, in the order of a summary.
var driftWords = []struct {
	status          drift.Status
	symbol, summary string
	words           string
}{
	{drift.Drifted, paint.Yellow("~"), "drifted", "has drifted"},
	{drift.Gone, paint.Red("-"), "gone", "is gone"},
	{drift.Failed, paint.Red("!"), "failed", "could not be checked"},
	{drift.Changed, paint.Dim("m"), "changed in the manifest", "is changed in the manifest"},
	{drift.Undeclared, paint.Dim("m"), "no longer declared", "is no longer declared"},
	{drift.Unrecorded, paint.Dim("m"), "not applied yet", "is not applied yet"},
	{drift.None, " ", "unchanged", "is unchanged"},
}

// Drift returns the report of drift as text.
func Drift(r *drift.Report, o Options) string {
	var b strings.Builder
	shown, left := 0, 0
	for _, words := range driftWords {
		for _, addr := range r.Order() {
			d := r.Resources[addr]
			if d.Status != words.status || d.Status == drift.None && d.Reason == "" && !o.Verbose {
				continue
			}
			if shown++; shown > MaxBlocks && !o.All() {
				left++
				continue
			}
			fmt.Fprintf(&b, "%s %s %s  %s\n", words.symbol, paint.Bold(diag.Visible(addr)), words.words,
				paint.Dim("("+diag.Visible(d.Type)+")"))
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

// writeDrift prints the details of a resource below its header.
func writeDrift(b *strings.Builder, d *drift.Resource, o Options) {
	if d.Reason != "" {
		fmt.Fprintf(b, "    %s\n", paint.Dim(diag.Visible(d.Reason)))
	}
	if d.Known {
		fmt.Fprintf(b, "    %s\n", paint.Dim("known: the baseline has it like this"))
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
func DriftSummary(r *drift.Report) string {
	s := r.Summary
	n := map[drift.Status]int{drift.None: s.Valid, drift.Drifted: s.Drifted, drift.Gone: s.Gone, drift.Changed: s.Changed,
		drift.Undeclared: s.Undeclared, drift.Unrecorded: s.Unrecorded, drift.Failed: s.Failed}
	var parts []string
	for _, w := range driftWords {
		if n[w.status] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[w.status], w.summary))
		}
	}
	head := paint.Bold("No drift.")
	switch {
	case s.Failed > 0:
		head = paint.Bold("Not everything could be read.")
	case r.Status == drift.Drifted:
		head = paint.Bold(paint.Yellow("Drift."))
	case s.Known > 0:
		head = paint.Bold("No drift that is not known.")
	}
	if s.Known > 0 {
		parts = append(parts, fmt.Sprintf("%d of these known", s.Known))
	}
	if len(parts) == 0 {
		return head + " No resources are declared, and none are recorded."
	}
	return head + " Resources: " + strings.Join(parts, ", ") + "."
}
