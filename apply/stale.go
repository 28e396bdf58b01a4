package apply

import (
	"slices"

	"deployster/apply/compare"
	"deployster/apply/fresh"
	"deployster/protocol"
)

// whatNow is the end of the message that refuses one resource.
const whatNow = "Nothing of this resource was run. Plan again to see what is to be done now."

// drifted refuses a resource whose image answers differently than the plan showed.
func (o *outcome) drifted(differences []compare.Difference) {
	o.report.NotAttempted = o.report.Planned
	o.report.Stale = differences
	o.fail(failedState, fresh.Stale("the image returned something else than the plan showed", compare.SideBySide(differences)+whatNow))
	o.report.Reason = "plan is stale: the image returned something else than the plan showed"
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
