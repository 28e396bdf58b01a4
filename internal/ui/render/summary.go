package render

import (
	"fmt"
	"strings"

	"deployster/plan"
)

// changeWords are the words for each change, in the order of a summary.
var changeWords = []struct {
	change                  plan.Change
	symbol, legend, summary string
	words                   string
}{
	{plan.Create, Green("+"), "create", "to create", "will be created"},
	{plan.Update, Yellow("~"), "update", "to update", "will be updated"},
	{plan.Replace, Red("-") + Green("+"), "destroy and make again", "to replace", "will be destroyed and made again"},
	{plan.Destroy, Red("-"), "destroy", "to destroy", "will be destroyed"},
	{plan.Forget, Dim("."), "forget", "to forget", "will be forgotten"},
	{plan.Deferred, Cyan("?"), "deferred: decided when what it waits for is there", "deferred", "is deferred"},
	{plan.Record, Yellow("="), "record as it is", "to record", "will be recorded as it is"},
	{plan.Left, Dim("."), "leave as recorded", "to leave as recorded", "stays as it was recorded"},
	{plan.ReadFailed, Red("!"), "could not be asked", "that could not be asked", "could not be asked"},
}

// mark returns the symbol and the words of a step.
func mark(s *plan.Step) (symbol, words string) {
	symbol, words = " ", "is as declared"
	if s.MovedFrom != "" {
		symbol, words = Cyan(">"), "is as declared, under a new address"
	}
	for _, c := range changeWords {
		if c.change == s.Change {
			symbol, words = c.symbol, c.words
		}
	}
	if s.MayChange {
		words += ", as far as can be known"
	}
	return symbol, words
}

func counts(s plan.Summary) map[plan.Change]int {
	return map[plan.Change]int{plan.Create: s.Create, plan.Update: s.Update, plan.Destroy: s.Destroy, plan.Forget: s.Forget,
		plan.Deferred: s.Deferred,
		plan.Replace:  s.Replace, plan.ReadFailed: s.ReadFailed, plan.Record: s.Record, plan.Left: s.Left}
}

func legend(p *plan.Plan) string {
	n := counts(p.Summary)
	var words []string
	for _, c := range changeWords {
		if n[c.change] > 0 {
			words = append(words, c.symbol+" "+c.legend)
		}
	}
	if p.Summary.Move > 0 {
		words = append(words, Cyan(">")+" move to a new address")
	}
	return "What apply would do:  " + strings.Join(words, "   ")
}

// Summary returns the last line of a plan.
func Summary(p *plan.Plan) string {
	s := p.Summary
	if !p.HasChanges() && !p.Errored {
		return Bold("No changes.") + " " + noChanges(p)
	}
	n := counts(s)
	var parts []string
	for _, c := range changeWords {
		always := (c.change == plan.Create || c.change == plan.Update) && !p.Selection.RefreshOnly
		if n[c.change] > 0 || always {
			parts = append(parts, fmt.Sprintf("%d %s", n[c.change], c.summary))
		}
	}
	if s.Move > 0 {
		parts = append(parts, fmt.Sprintf("%d to move", s.Move))
	}
	parts = append(parts, fmt.Sprintf("%d as declared", s.Valid))
	if left := len(p.LeftOut); left > 0 {
		parts = append(parts, fmt.Sprintf("%d left out", left))
	}
	if p.Errored {
		return Bold("Not a whole plan, because of errors:") + " " + strings.Join(parts, ", ") + ". It cannot be applied."
	}
	return Bold("Plan:") + " " + strings.Join(parts, ", ") + "."
}

// noChanges returns a sentence about a plan that would do nothing.
func noChanges(p *plan.Plan) string {
	n := p.Summary.Valid
	switch {
	case p.Selection.RefreshOnly:
		return "What is there is as it was recorded."
	case len(p.LeftOut) > 0 && n == 1:
		return "Of what the plan is about, 1 resource was as declared."
	case len(p.LeftOut) > 0:
		return fmt.Sprintf("Of what the plan is about, %d resources were as declared.", n)
	case n == 0:
		return "No resources are declared, and none are recorded."
	case n == 1:
		return "The one resource is as declared."
	}
	return fmt.Sprintf("All %d resources are as declared.", n)
}
