package apply

import (
	"deployster/apply/compare"
	"deployster/apply/fresh"
	"deployster/apply/report"
)

// whatNow is the end of the message that refuses one resource.
const whatNow = "Nothing of this resource was run. Plan again to see what is to be done now."

// drifted refuses a resource whose image answers differently than the plan showed.
func (o *outcome) drifted(differences []compare.Difference) {
	o.Report.NotAttempted = o.Report.Planned
	o.Report.Stale = differences
	o.fail(report.FailedState, fresh.Stale("the image returned something else than the plan showed", compare.SideBySide(differences)+
		whatNow))
	o.Report.Reason = "plan is stale: the image returned something else than the plan showed"
}
