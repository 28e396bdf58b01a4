package render

import (
	"cmp"
	"fmt"
	"strings"

	"deployster/internal/base/words"
	"deployster/internal/ui/paint"
	"deployster/plan"
)

// adopts and mayChange are not changes of a step, but the summary counts them like changes.
const (
	adopts    plan.Change = "adopt"
	mayChange plan.Change = "may_change"
)

// changeWords are the texts for each change, in the order of a summary.
var changeWords = []struct {
	change                  plan.Change
	symbol, legend, summary string
	words                   string
}{
	{plan.Create, paint.Green("+"), "create", "to create", "will be created"},
	{plan.Update, paint.Yellow("~"), "update", "to update", "will be updated"},
	{plan.Replace, paint.Red("-") + "/" + paint.Green("+"), "replace: destroy, then create", "to replace", "will be replaced"},
	{plan.Destroy, paint.Red("-"), "destroy", "to destroy", "will be destroyed"},
	{plan.Forget, paint.Dim("."), "forget", "to forget", "will be forgotten"},
	{plan.Publish, paint.Cyan(">"), "publish", "to publish", "will be published"},
	{plan.Record, paint.Yellow("="), "record unchanged", "to record", "will be recorded unchanged"},
	{adopts, paint.Cyan("<"), "adopt", "to adopt", "exists already and will be adopted"},
	{plan.Deferred, paint.Cyan("?"), "deferred (decided during apply, when its dependencies exist)", "deferred", "is deferred"},
	{mayChange, paint.Cyan("?"), "may change (decided during apply, after its dependencies)", "may change", "may change"},
	{plan.Left, paint.Dim("."), "leave as recorded", "to leave as recorded", "is left as recorded"},
	{plan.ReadFailed, paint.Red("!"), "failed", "failed", "cannot be planned"},
}

// made describes a resource that an apply created without recording that it was VALID.
const made = "was created by an interrupted apply, and will be recorded"

// published describes a publish whose put succeeded without the run that began it seeing its end.
const published = "was published, and will be recorded"

// ofMany changes the words of one step to those of several.
var ofMany = strings.NewReplacer("is unchanged", "are unchanged", "is deferred", "are deferred", "a new address", "new addresses",
	"exists already", "exist already", "is left as", "are left as", "as it is", "as they are",
	"its dependencies", "their dependencies", "was published", "were published",
	"was created by", "were created by", "the new one first", "the new ones first")

// mark returns the symbol and the words of a step.
func mark(s *plan.Step) (symbol, words string) {
	symbol, words = " ", "is unchanged"
	if s.MovedFrom != "" {
		symbol, words = paint.Cyan(">"), "is unchanged, under a new address"
	}
	change := s.Shown()
	switch {
	case s.Adopts() && s.Made():
		change = plan.Record
	case s.Adopts():
		change = adopts
	case s.Change() == plan.Valid && s.Certainty == plan.MayChange:
		change = mayChange
	}
	for _, c := range changeWords {
		if c.change == change {
			symbol, words = c.symbol, c.words
		}
		if c.change == s.Expected() {
			symbol, words = c.symbol, c.words+" once its dependencies exist"
			break
		}
	}
	switch {
	case s.Adopts() && s.Publishes:
		words = published
	case s.Adopts() && s.Made():
		words = made
	}
	if s.Replaces != "" {
		symbol, words = paint.Green("+")+"/"+paint.Red("-"),
			strings.Replace(words, "will be created", "will be replaced, the new one first", 1)
	}
	if s.Certainty == plan.MayChange && s.Change() != plan.Valid {
		words += ", and may change further during apply"
	}
	return symbol, words
}

func counts(s plan.Summary) map[plan.Change]int {
	return map[plan.Change]int{plan.Create: s.Create, plan.Update: s.Update, plan.Destroy: s.Destroy, plan.Forget: s.Forget,
		plan.Publish: s.Publish, plan.Deferred: s.Deferred, adopts: s.Adopt - s.Made, mayChange: s.MayChange,
		plan.Replace: s.Replace, plan.ReadFailed: s.ReadFailed, plan.Record: s.Record + s.Made, plan.Left: s.Left}
}

func legend(p *plan.Plan) string {
	n, expected := counts(p.Summary), p.Summary.Expected
	n[plan.Create], n[plan.Update] = n[plan.Create]+expected.Create, n[plan.Update]+expected.Update
	n[plan.Replace] += expected.Replace
	n[plan.Deferred] -= expected.All()
	var words []string
	for _, c := range changeWords {
		if n[c.change] == 0 {
			continue
		}
		what := c.legend
		if p.Errored && (c.change == plan.Deferred || c.change == mayChange) {
			what = c.summary + " (not decided, as planning failed)" // it is not applied
		}
		words = append(words, c.symbol+" "+what)
	}
	if len(words) == 0 && p.Summary.Move == 0 {
		return ""
	}
	if p.Summary.Move > 0 {
		words = append(words, paint.Cyan(">")+" move to a new address")
	}
	return "Actions:  " + strings.Join(words, "   ")
}

// Summary returns the last line of a plan.
func Summary(p *plan.Plan) string {
	if !p.HasChanges() && !p.Errored {
		return paint.Bold("No changes.") + " " + noChanges(p) + onHosts(p)
	}
	what := Counts(p) + "." + onHosts(p)
	if n := p.Summary.DestroyAdopted; n > 0 {
		what += fmt.Sprintf(" Not created by deployster, and destroyed: %d.", n)
	}
	if p.Errored {
		return paint.Bold("Planning failed:") + " " + what + " This partial plan cannot be applied."
	}
	return paint.Bold("Plan:") + " " + what
}

// onHosts returns on how many hosts the resources of a plan are, of those and the hosts that
// could not be reached; "" if there are none.
func onHosts(p *plan.Plan) string {
	used, machines, unreachable := map[string]bool{}, map[string]bool{}, 0
	for _, step := range p.Resources {
		for _, s := range []*plan.Step{step, step.Old()} {
			if s != nil && s.Settings.Host != nil { // a name may lead to another machine than before
				used[s.Settings.Host.Name] = true
				machines[cmp.Or(s.Settings.Host.Machine, s.Settings.Host.Name)] = true
			}
		}
	}
	for name, pin := range p.Hosts {
		if pin.Unreachable != "" && !used[name] && len(p.Selection.Targets)+len(p.Selection.Only) == 0 {
			unreachable++
		}
	}
	switch n := len(machines); {
	case n+unreachable == 0:
		return ""
	case unreachable == 0:
		return " On " + words.Count(n, "host") + "."
	default:
		return fmt.Sprintf(" On %d of %s.", n, words.Count(n+unreachable, "host"))
	}
}

// Counts returns how many resources have each change.
func Counts(p *plan.Plan) string {
	s := p.Summary
	rest := fmt.Sprintf("%d unchanged", s.Valid-s.Adopt-s.MayChange)
	if left := len(p.LeftOut); left > 0 {
		rest += fmt.Sprintf(", %d left out", left)
	}
	if parts := toDo(p); len(parts) > 0 {
		return strings.Join(parts, ", ") + ". " + rest
	}
	return rest
}

// toDo returns how many resources have each change, in the order of changeWords. Deferred
// ones with an expected change count for that change.
func toDo(p *plan.Plan) (parts []string) {
	s := p.Summary
	n, expected := counts(s), map[plan.Change]int{
		plan.Create: s.Expected.Create, plan.Update: s.Expected.Update, plan.Replace: s.Expected.Replace}
	n[plan.Deferred] -= s.Expected.All()
	for _, c := range changeWords {
		always := (c.change == plan.Create || c.change == plan.Update || c.change == plan.Destroy) && !p.Selection.RefreshOnly
		later := expected[c.change]
		if n[c.change]+later == 0 && !always {
			continue
		}
		part := fmt.Sprintf("%d %s", n[c.change]+later, c.summary)
		if later > 0 {
			part += fmt.Sprintf(" (%d once their dependencies exist)", later)
		}
		parts = append(parts, part)
	}
	if s.Move > 0 {
		parts = append(parts, fmt.Sprintf("%d to move", s.Move))
	}
	return parts
}

// noChanges returns a sentence for a plan without changes.
func noChanges(p *plan.Plan) string {
	n := p.Summary.Valid
	switch {
	case p.Selection.RefreshOnly:
		return "All resources match the state."
	case len(p.LeftOut) > 0 && n == 1:
		return "Of the selected resources, 1 matches the configuration."
	case len(p.LeftOut) > 0:
		return fmt.Sprintf("Of the selected resources, %d match the configuration.", n)
	case n == 0 && p.Selection.Destroy:
		return "No resources are recorded."
	case n == 0:
		return "No resources are declared, and none are recorded."
	case n == 1:
		return "The one resource matches the configuration."
	}
	return fmt.Sprintf("All %d resources match the configuration.", n)
}
