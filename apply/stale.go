package apply

import (
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

// names lists the actions' names.
func names(actions []protocol.Action) []string {
	var list []string
	for _, a := range actions {
		list = append(list, a.Name)
	}
	return list
}
