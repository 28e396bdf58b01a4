package decide

import (
	"context"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner"
	"deployster/plan/change"
	"deployster/plan/objects"
	"deployster/plan/observe"
	"deployster/plan/reason"
	"deployster/protocol"
	"deployster/state"
)

// triggered reports whether replace_triggered_by has the resource replaced, because of a change
// of another resource that was not known before. Then the resource is matched again.
func (d *decision) triggered() bool {
	if d.pair.Recorded == "" || d.matched.Facts.Triggered(d.r.Address) != nil {
		return false
	}
	for _, t := range d.r.Triggers {
		was, known := d.subject.Prior.Completed(t.To)
		if key := d.matched.Deposed(t.To); key != "" {
			was, known = d.subject.Prior.Completed(key)
		}
		step := d.decisions.step(t.To)
		if step != nil {
			was = observe.Completed(d.session.Prober, step.Init, was, step.Config)
		}
		if !known || step == nil || len(t.Path) == 0 && !mayTrigger(step, was) ||
			len(t.Path) > 0 && !step.View().Differs(t.Path, was, step.Unknown) {
			continue
		}
		d.matched.Facts.Trigger(d.r.Address, reason.New(reason.Triggered, t.To))
		return true
	}
	return false
}

// mayTrigger reports whether the step updates or replaces a recorded resource, or may do so, or the resource means another object.
func mayTrigger(s *change.Step, was state.Entry) bool {
	return s.Change() == observe.Update || s.Change() == observe.Replace || s.Replaces != "" || s.OtherObject ||
		s.Change() == observe.Deferred && (len(s.Unknown) > 0 || string(was.Config) != string(s.Config))
}

// learn compares the identity of the resource with the one that it was matched with. It reports
// whether they are equal, or not both known; else the resource is matched again.
func (d *decision) learn() bool {
	s := d.step
	if len(s.Init.Identity) == 0 || !objects.Known(s.Init, s.Unknown) {
		return true
	}
	now := objects.Declared(d.session.Prober, d.r.TypeRef, s.Init, s.Config, s.Settings, runner.MountsIn(d.session.Workdir, s.Mounts))
	equal, err := d.matched.Learn(d.r.Address, now)
	if err != nil {
		d.report(diag.From("Identity that is never the same", err))
	}
	return equal
}

// confirm queries the state again under the former address of the entry: a guess holds
// where both answers have the same status and, if stale, the same state. Where both are that
// nothing exists they have no meaning for the guess: the removal of what else had this address
// could take with it what would be created here.
func (d *decision) confirm(ctx context.Context, q observe.Query, answer protocol.Answer) bool {
	q.Target, q.Secrets = d.step.Target(d.pair.From), nil
	o := observe.Observe(ctx, d.session.Prober, q)
	was, stale := o.Answer, answer.Status == protocol.Stale
	if o.Err != nil || was.Status != answer.Status || stale && !jsondoc.Same(was.StaleState, answer.StaleState) {
		d.matched.Facts.Refute(d.r.Address)
		return false
	}
	if answer.Status == protocol.Missing {
		d.matched.Facts.Withdraw(d.r.Address)
		return false
	}
	d.step.Notes = append(d.step.Notes, reason.New(reason.Guessed, d.pair.From))
	return true
}
