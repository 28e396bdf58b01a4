package apply

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/apply/compare"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/protocol"
	"deployster/state"
)

// Check refuses a plan that does not fit the state file any more. It only reads the
// state; images are asked right before each resource's actions.
func Check(p *plan.Plan, s state.Snapshot) error {
	died, resumed := s.Died(p.ID)
	if last, was := s.WasApplied(p.ID); was && !resumed {
		why, todo := "it was already applied", "A plan is used once. Make a new one to see what is left to do."
		if last.Status != state.StatusOK {
			todo = fmt.Sprintf("Its run ended by itself (%s), and what was not done then is not in this plan any more as it should be: only a "+
				"run that was cut short, as by a power cut, is gone on with. Make a new plan to see what is left to do.", last.Status)
		}
		return stale(why, todo)
	}
	if p.Lineage != "" && s.Lineage != "" && p.Lineage != s.Lineage {
		return stale("it was made for another state file",
			fmt.Sprintf("The plan belongs to the state with lineage %s, this one has %s. Name the file with -state, or plan again.",
				p.Lineage, s.Lineage))
	}
	if p.Lineage != "" && s.Lineage == "" {
		return stale("the state file it was made from is gone",
			"The plan was made with a state file, and there is none now. Use -state to name it, or plan again.")
	}
	if p.Lineage == "" && s.Serial > 0 && !resumed { // at serial 0 a state exists, and nothing was recorded in it
		return stale("there was no state when it was made, and there is one now",
			"It was made for another state file, or another apply came between. Name the file with -state, or plan again.")
	}
	var changed []string
	pins, then := beforeMoves(p, s, died)
	for _, addr := range slices.Sorted(maps.Keys(pins)) {
		if !pinned(then, addr, pins[addr], died) && !pinned(s, addr, pins[addr], died) {
			changed = append(changed, addr)
		}
	}
	if len(changed) > 0 {
		return stale("the state of "+strings.Join(changed, ", ")+" was recorded anew since it was made",
			"Another apply came between. Plan again to see what is left to do.")
	}
	if dependant, addr := newDependant(p, s); dependant != "" {
		return stale(fmt.Sprintf("it destroys %s, and %s was recorded since as depending on it", config.Reference(addr),
			config.Reference(dependant)),
			"Another apply came between. Plan again: the new plan has them in their order.")
	}
	return nil
}

// newDependant returns an entry that depends on something the plan destroys, and that
// the plan does not know. For a partial plan it returns nothing: such a plan may have
// left out an entry that existed already.
func newDependant(p *plan.Plan, s state.Snapshot) (dependant, addr string) {
	if p.Partial() {
		return "", ""
	}
	for _, dependant := range slices.Sorted(maps.Keys(s.Resources)) {
		if _, known := p.Entries[dependant]; known {
			continue
		}
		for _, addr := range s.Resources[dependant].Dependencies {
			if step := p.Resources[addr]; step != nil && (step.Change == plan.Destroy || step.Change == plan.Replace) {
				return dependant, addr
			}
		}
	}
	return "", ""
}

// stale returns the error for a stale plan.
func stale(why, todo string) *diag.Diagnostic {
	return &diag.Diagnostic{Severity: diag.Error, Summary: "plan is stale: " + why, Detail: todo}
}

// whatNow is the end of the message that refuses one resource.
const whatNow = "Nothing of this resource was run. Plan again to see what is to be done now."

// drifted refuses a resource whose image answers differently than the plan showed.
func (o *outcome) drifted(differences []compare.Difference) {
	o.report.NotAttempted = o.report.Planned
	o.report.Stale = differences
	o.fail(failedState, stale("the image answers other than the plan showed", compare.SideBySide(differences)+whatNow))
	o.report.Reason = "plan is stale: the image answers other than the plan showed"
}

// sameActions reports whether two lists would run the same. Descriptions may differ:
// images put the time of day in them.
func sameActions(a, b []protocol.Action) bool {
	return slices.EqualFunc(a, b, sameAction)
}

func sameAction(a, b protocol.Action) bool {
	return sameButArguments(a, b) && slices.Equal(a.Args, b.Args)
}

func sameButArguments(a, b protocol.Action) bool {
	return a.Name == b.Name && a.Destructive == b.Destructive && a.Image == b.Image && a.Entrypoint == b.Entrypoint
}

// names lists the actions' names.
func names(actions []protocol.Action) []string {
	var list []string
	for _, a := range actions {
		list = append(list, a.Name)
	}
	return list
}
