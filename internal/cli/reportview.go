package cli

import (
	"fmt"
	"strings"

	"deployster/apply"
	"deployster/internal/diag"
	"deployster/plan"
)

// report prints the end of an apply.
func (p printer) report(pl *plan.Plan, r *apply.Report) {
	counts := r.Counts()
	if r.Status != apply.OK {
		p.unfinished(pl, r)
	}
	var parts []string
	for _, c := range []struct {
		status apply.Status
		word   string
	}{{apply.OK, "done"}, {apply.Skipped, "right already"}, {apply.Unchanged, "unchanged"},
		{apply.Error, "failed"}, {apply.Unknown, "unknown"}, {apply.Interrupted, "interrupted"}, {apply.NotStarted, "not started"}} {
		if counts[c.status] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[c.status], c.word))
		}
	}
	if len(r.Moves) > 0 {
		parts = append(parts, fmt.Sprintf("%d moved", len(r.Moves)))
	}
	headline := p.style.green("Apply complete.")
	switch {
	case r.Status == apply.Interrupted:
		headline = p.style.yellow("Apply interrupted.")
	case r.Status != apply.OK && counts[apply.Error]+counts[apply.Unknown] == 0:
		headline = p.style.yellow("Apply not complete.")
	case r.Status != apply.OK:
		headline = p.style.red("Apply failed.")
	case !pl.HasChanges():
		return // the plan said already that there was nothing to do
	}
	if len(parts) == 0 {
		p.printf("\n%s The outputs were recorded.\n", p.style.bold(headline))
		return
	}
	p.printf("\n%s Resources: %s.\n", p.style.bold(headline), join(parts))
}

// unfinished lists what failed and what was not done, in the order of the plan.
func (p printer) unfinished(pl *plan.Plan, r *apply.Report) {
	p.printf("\n")
	for _, addr := range pl.Order() {
		res := r.Resources[addr]
		switch res.Status {
		case apply.Error, apply.Interrupted, apply.Unknown:
			p.printf("  %s %s: %s\n", p.style.red("x"), addr, res.Status)
			if len(res.Completed) > 0 {
				p.printf("      completed: %s\n", visibleList(res.Completed))
			}
			p.failed(res)
			if len(res.NotAttempted) > 0 {
				p.printf("      not attempted: %s\n", visibleList(res.NotAttempted))
			}
		case apply.NotStarted:
			p.printf("  %s %s: not started%s\n", p.style.dim("."), addr, givenReason(res.Reason))
		}
	}
}

// failed says what of a resource did not do well, and what it said at the end.
func (p printer) failed(res *apply.ResourceReport) {
	word := "failed"
	switch {
	case res.Failed == "" && res.Reason != "":
		p.printf("      %s\n", diag.Visible(res.Reason))
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
	p.printf("      %s: %s%s\n", word, diag.Visible(res.Failed), code)
	for _, line := range res.LastLines[max(0, len(res.LastLines)-3):] {
		p.printf("        %s %s\n", p.style.dim("|"), diag.Visible(line))
	}
}

func givenReason(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + diag.Visible(reason)
}

func visibleList(names []string) string { return diag.Visible(join(names)) }

func join(words []string) string { return strings.Join(words, ", ") }
