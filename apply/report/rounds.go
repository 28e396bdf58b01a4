package report

import (
	"maps"
	"slices"

	"deployster/plan"
)

// With returns the report of a run that has gone on, with that of its next round.
func (r *Report) With(next *Report) *Report {
	sum := *next
	sum.Resources, sum.Hosts = maps.Clone(r.Resources), maps.Clone(r.Hosts)
	for addr, res := range next.Resources {
		sum.Resources[addr] = together(sum.Resources[addr], res)
	}
	for name, host := range next.Hosts {
		if sum.Hosts == nil {
			sum.Hosts = map[string]HostReport{}
		}
		if was, known := sum.Hosts[name]; !known || worse[was.Status] <= worse[host.Status] {
			sum.Hosts[name] = host
		}
	}
	sum.Shutdown, sum.Waves = slices.Concat(r.Shutdown, next.Shutdown), slices.Concat(r.Waves, next.Waves)
	sum.Moves, sum.Problems = slices.Concat(r.Moves, next.Moves), slices.Concat(r.Problems, next.Problems)
	sum.Settle(r.Status == Interrupted || next.Status == Interrupted, r.Status == Error || next.Status == Error)
	return &sum
}

// together returns how a resource ended in two rounds: one that was only found unchanged in the second is as the first has it.
func together(was, now *ResourceReport) *ResourceReport {
	if was == nil || was.Status == Left {
		return now
	}
	if now.Status == Unchanged || now.Status == Skipped || now.Status == Kept {
		return was
	}
	both := *now
	both.Planned, both.Completed = slices.Concat(was.Planned, now.Planned), slices.Concat(was.Completed, now.Completed)
	return &both
}

// LeaveLater adds what a plan has deferred to a later round, which is not begun.
func (r *Report) LeaveLater(p *plan.Plan, why string, interrupted bool) {
	for _, addr := range p.LaterDeclared() {
		r.Resources[addr] = &ResourceReport{Status: NotStarted, Reason: why}
	}
	r.Settle(interrupted || r.Status == Interrupted, r.Status == Error)
}
