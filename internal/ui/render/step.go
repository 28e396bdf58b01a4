package render

import (
	"fmt"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/plan"
	"deployster/protocol"
)

// Step returns one resource as a plan shows it, in full: what a person is asked about
// in the middle of an apply.
func Step(addr string, s *plan.Step, o Options) string {
	d := detailOf(s, o)
	var b strings.Builder
	newBlock(addr, s, &d).write(&b, o)
	return b.String()
}

// Action returns an action with what its image says of it.
func Action(a protocol.Action, o Options) string { return action(a, o.Hide) }

// MovedFrom says which address a resource had, and how that is known.
func MovedFrom(s *plan.Step) string {
	words := "moved from " + diag.Visible(s.MovedFrom)
	switch s.MovedWhy {
	case "identity":
		words += " (same " + diag.Visible(strings.Join(s.Init.Identity, ", ")) + ")"
	case "same config":
		words += " (guessed: the same config)"
	}
	return words
}

// Edited says in what a config has changed to no effect.
func Edited(s *plan.Step) string {
	return fmt.Sprintf("changed (%s); its type finds nothing to do", diag.Visible(jsondoc.EditWords(s.Edited)))
}

// onlyEdited reports whether that is all that there is to say of a step.
func onlyEdited(s *plan.Step) bool {
	return len(s.Edited) > 0 && !s.MayChange && s.MovedFrom == ""
}
