package render

import (
	"fmt"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/ui/clusterlines"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/paint"
	"deployster/plan"
	"deployster/protocol"
)

// Step returns one resource in full, in the form of a plan: apply shows it when it prompts for
// approval of one step.
func Step(addr string, s *plan.Step, o Options) string {
	var b strings.Builder
	d := detailOf(s, o)
	if line := clusterlines.OfStep(s); line != "" { // a whole plan has it once for each host and type
		d.why = append(d.why, paint.Yellow("not enforced "+line))
	}
	newBlock(addr, s, &d).write(&b, o)
	return b.String()
}

// Action returns the name of an action, and its description.
func Action(a protocol.Action, o Options) string { return action(a, o.Hide) }

// MovedFrom returns the former address of a resource, and how that is known.
func MovedFrom(s *plan.Step) string {
	text := "moved from " + diag.Visible(s.MovedFrom)
	switch s.MovedWhy {
	case "identity":
		text += " (same " + diag.Visible(strings.Join(s.Init.Identity, ", ")) + ")"
	case "same config":
		text += " (guessed: the same config)"
	}
	return text
}

// Edited describes the changes of a config that need no action.
func Edited(s *plan.Step) string {
	return fmt.Sprintf("changed (%s); its type finds nothing to do", diag.Visible(jsondoc.EditWords(s.Edited())))
}

// onlyEdited reports whether such changes are all that a step shows.
func onlyEdited(s *plan.Step) bool {
	return len(s.Edited()) > 0 && s.Certainty != plan.MayChange && s.MovedFrom == ""
}

// sign returns the sign of an operation in its colour.
func sign(op jsondiff.Op) string {
	switch op {
	case jsondiff.Add:
		return paint.Green("+")
	case jsondiff.Remove:
		return paint.Red("-")
	case jsondiff.Change:
		return paint.Yellow("~")
	}
	return " "
}
