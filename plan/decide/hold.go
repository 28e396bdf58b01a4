package decide

import (
	"deployster/internal/base/diag"
	"deployster/plan/change"
	"deployster/plan/match"
	"deployster/plan/observe"
	"deployster/plan/order"
	"deployster/plan/reason"
	"deployster/state/moves"
)

// Hold returns the decisions with these ends left for the next plan, because whether they
// are allowed depends on what becomes known only after them. It reports an end that cannot
// be left.
func (d *Decisions) Hold(nodes []string) *Decisions {
	next := d.clone(d.Matched)
	for _, node := range nodes {
		addr, what := order.OfNode(node)
		if what == order.Old {
			next.holdOld(addr)
		} else {
			next.hold(addr)
		}
	}
	return next
}

// hold leaves an entry.
func (d *Decisions) hold(addr string) {
	left := d.session.RecordedStep(d.session.Subject.Prior.Resources[addr])
	left.Part, left.Init = &change.Left{}, d.steps[addr].Init
	left.Reason = reason.New(reason.LateIdentity)
	d.steps[addr] = left
}

// holdOld leaves the recorded object of a resource that means another object now.
func (d *Decisions) holdOld(addr string) {
	x, step := d.session, *d.steps[addr]
	if d.Matched.Pair(addr).Why != match.Other {
		asks := "-replace"
		if d.Matched.Facts.Triggered(addr) != nil {
			asks = "replace_triggered_by"
		}
		x.Findings.Report(nil, "", diag.Diagnostics{{Severity: diag.Error, Summary: "Resource cannot be replaced now", Address: addr,
			Detail: "What identifies another resource of its type becomes known only during apply, and depends on it or is left out of " +
				"this plan. Apply without " + asks + " first."}})
		return
	}
	old := step.Old()
	step.Part, step.OtherObject = &change.Deferred{Expected: observe.Create}, true
	step.Reason = reason.New(reason.LeftForNext)
	key := moves.Depose(addr, func(key string) bool { _, taken := x.Subject.Prior.Resources[key]; return taken })
	d.Matched = d.Matched.Depose(addr, key)
	x.Findings.Report(nil, "", x.Subject.Identify(d.Matched.Moves))
	d.steps[addr], d.steps[key] = &step, old
	d.hold(key)
}
