package apply

import (
	"deployster/apply/facts"
	"deployster/plan"
	"deployster/plan/order"
)

// FailedReplace is ResourceReport.Failed of a resource that was destroyed and not created again.
const FailedReplace = "replace"

// endedBefore reports whether a killed run of this plan had destroyed the old thing of a
// resource: what exists now is not the old thing any more.
func (r *run) endedBefore(addr string) bool {
	hash, done := r.died.Done[addr]
	if done && hash == "" {
		r.facts.SetGone(addr)
	}
	return done
}

// halfReplaced reports as failed the resources that were destroyed and not created
// again: they do not exist now, and must not be reported as done.
func halfReplaced(p *plan.Plan, ended []outcome, f *facts.Facts, report *Report) {
	made := map[string]bool{}
	for _, out := range ended {
		if out.what == order.Again {
			continue
		}
		made[out.addr] = made[out.addr] || !out.old
	}
	for addr, res := range report.Resources {
		step := p.Resources[addr]
		destroyed := !made[addr] && (res.Status == OK || res.Status == Skipped)
		if step.Change() == plan.Replace && (destroyed || res.Status == NotStarted && f.IsGone(addr)) {
			res.Status, res.Failed = Error, FailedReplace
			res.Reason = "it was destroyed and not created again. Plan again to create it"
		}
	}
}
