package plan

import (
	"cmp"
	"context"
	"fmt"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/plan/change"
	"deployster/plan/inputs"
	"deployster/plan/observe"
	"deployster/plan/reason"
	"deployster/plan/subject"
	"deployster/plan/things"
	"deployster/protocol"
)

// decide decides what to do with one resource, whose dependencies are all decided.
// It returns nil when that is not possible; the reason is reported.
func (b *builder) decide(ctx context.Context, r *config.Resource) *Step {
	before, recording := subject.Predecessors(r), b.Selection.RefreshOnly
	if conditional, _ := b.Manifest.Conditional(r.Address); conditional && !recording {
		if _, diags := b.Manifest.Preconditions(r.Address, b.scope(r.Address, before, b.outlook)); diags.HasErrors() {
			b.Report(r, "", diags) // apply checks those with unknown values right before its actions
			return nil
		}
	}
	resolved, diags := b.Manifest.Config(r.Address, b.scope(r.Address, before, b.look))
	if b.Report(r, "", diags); diags.HasErrors() {
		return nil
	}
	step := b.session.NewStep(r, resolved)
	b.session.Secret(step)
	violations := b.session.Prober.CheckConfig(step.Init, step.Config, step.Unknown)
	if b.Report(r, "", subject.Violations(b.Manifest, r.Address, violations)); len(violations) > 0 {
		return nil
	}
	if !b.learn(r, step) || b.triggered(r) {
		return nil
	}
	if pair := b.identified.result.Pair(r.Address); pair.Replaced || b.Replaces(r.Address) {
		switch ok := b.replacePair(ctx, r, step, pair); {
		case !ok:
			return nil
		case step.Old() != nil || recording:
			return step
		}
	}
	why, ok := mustWait(b, r, before, step)
	if !ok {
		return nil
	}
	if step.Reason = why; why != nil {
		if b.guessed(r.Address) { // no image can be asked yet whether the guess holds
			b.withdraw(r.Address, true)
			return nil
		}
		if recording {
			step.Part = &change.Deferred{}
			b.recordOnly(r.Address, step)
			return step
		}
		return beforeItsTurn(ctx, b, r, before, step)
	}
	step.Reason = cmp.Or(b.whyMayChange(before), b.identified.doubts[r.Address])
	waiting := *step
	if step.MayChange = step.Reason != nil; !b.guessed(r.Address) && b.mayUseRecorded(r, step, before) {
		b.useRecorded(r.Address, step, b.Prior.Resources[r.Address])
	} else if !b.ask(ctx, r, step) {
		return nil
	}
	if recording {
		b.recordOnly(r.Address, step)
		return step
	}
	return accepted(b, r, before, step, waiting)
}

// accepted returns what is to be done about a resource that has answered; nil = that is not allowed: it is reported.
// waiting is the step without the answer.
func accepted(b *builder, r *config.Resource, before []string, step *Step, waiting Step) *Step {
	if step.ReadOnly && step.Change() != Valid && step.MayChange {
		*step = waiting // a change of its dependencies may make it valid
		b.expect(r, step)
		return step
	}
	if step.MayChange && step.Change() != Valid && onlyInOrder(b, r, before, step) {
		step.MayChange, step.Early = false, true
	}
	if step.MayChange && independent(b, r, before, step) {
		step.MayChange, step.Again = false, true
	}
	if step.ReadOnly && step.Change() != Valid {
		b.Report(r, "", diag.Diagnostics{{Severity: diag.Error, Summary: "Read-only resource differs from its config",
			Detail: fmt.Sprintf("It is read_only, so deployster does not change it, but its image returned %s instead of VALID. Fix it "+
				"outside of deployster, or change its config to match.", step.Answered()),
			Address: r.Address, Action: "state"}})
		return nil
	}
	if diags := append(noteDestroyed(b, r, step), b.postconditions(r.Address, before, step)...); diags.HasErrors() {
		b.Report(r, "", diags)
		return nil
	}
	return step
}

// ask asks the image of a resource for the state, and puts what follows into the step.
func (b *builder) ask(ctx context.Context, r *config.Resource, step *Step) bool {
	q, o, ok := queried(ctx, b, r, step)
	if !ok {
		return false
	}
	if b.guessed(r.Address) && !b.confirm(ctx, r, step, q, o.Answer) {
		return false
	}
	answered(b, r, step, q.Input, o)
	return true
}

// answered puts an answer about the state of a resource, and what follows from it, into the step.
func answered(b *builder, r *config.Resource, step *Step, in protocol.StateInput, o observe.Observation) {
	entry, known := b.session.Recorded(r.Address, step)
	step.Take(o)
	b.compareWithPrior(r.Address, step, in)
	if p, publishes := step.Part.(*change.Publish); publishes && known && len(entry.Config) > 0 {
		p.Was = &change.Was{State: entry.Config, Sensitive: entry.Sensitive.Config}
	}
	note := things.Lost(entry, step.Type, step.Config, step.Init.Identity)
	if known && !step.Another && step.Change() == Create && note != nil {
		step.Notes = append(step.Notes, note)
	}
}

// queried queries the state, and reports an error.
func queried(ctx context.Context, b *builder, r *config.Resource, s *Step) (q observe.Query, o observe.Observation, ok bool) {
	q, o = stateOf(ctx, b, r, s, false)
	if o.Err != nil {
		list := b.session.Plugs.Blame(diag.From("Cannot read the state", o.Err), o.Err, s.Init)
		b.Report(r, "", subject.Locate(b.Manifest, r.Address, list, o.Err))
		return q, o, false
	}
	return q, o, notTaken(b, r, s, o.Answer)
}

// stateOf queries the image for the state, and notes which actions the image is notified of.
func stateOf(ctx context.Context, b *builder, r *config.Resource, s *Step, once bool) (observe.Query, observe.Observation) {
	entry, known := b.session.Recorded(r.Address, s)
	q, around := b.session.Query(r.Address, s, entry), observe.Scope{Prior: b.Prior, View: b.look, Acts: updates(b)}
	q.Target.Once = once
	own := &entry
	if !known || s.Another {
		own = nil
	}
	o := b.session.Observe(ctx, &q, own, around)
	if q.Input.Refresh {
		s.Notes = append(s.Notes, observe.Notification(&q.Step, &entry, around))
	}
	return q, o
}

// notTaken reports whether a resource that must not exist yet does not exist; else it reports an error.
func notTaken(b *builder, r *config.Resource, s *Step, answer protocol.Answer) bool {
	_, known := b.Prior.Resources[r.Address]
	err := subject.Exists(s.New, s.Replaces, known && !s.Another, answer.Status)
	if err != nil {
		b.Report(r, "", diag.From("Resource exists already", err))
	}
	return err == nil
}

// noteDestroyed notes that a change destroys the existing thing, and refuses it if the resource is protected or created first.
func noteDestroyed(b *builder, r *config.Resource, s *Step) diag.Diagnostics {
	if s.Kind() != Replace {
		return nil
	}
	why := reason.New(reason.Destructive, protocol.Destructive(s.Answer().Shutdown, s.Answer().Actions))
	s.Notes = append(s.Notes, reason.New(reason.ApprovedAsReplace).With(why))
	entry, known := b.Prior.Resources[r.Address]
	s.SetNotMade(s.Answer().Stale != nil && (entry.Adopted || !known))
	switch {
	case r.PreventDestroy:
		return diag.Diagnostics{things.Protected("It has prevent_destroy = true", why)}
	case b.identified.first[r.Address]:
		return diag.Diagnostics{things.NotFirst("its type replaces it, and destroys what exists first", why)}
	}
	return nil
}

// postconditions checks the postconditions of a valid resource. Apply checks those of
// other resources after their actions.
func (b *builder) postconditions(addr string, before []string, s *Step) diag.Diagnostics {
	if _, conditional := b.Manifest.Conditional(addr); !conditional || s.Change() != Valid || s.MayChange {
		return nil
	}
	_, diags := b.Manifest.Postconditions(addr, b.scope(addr, before, func(a string) observe.View {
		if a == addr {
			return s.View()
		}
		return b.look(a)
	}))
	return diags
}

// unfinished is the reason for an incomplete entry: its object was never seen to be VALID.
const unfinished = "an apply began to make it and did not finish"

// compareWithPrior notes what follows from the entry in the state file: that the resource
// is adopted, that it has drifted, or that its config was changed without effect.
func (b *builder) compareWithPrior(addr string, s *Step, in protocol.StateInput) {
	entry, known := b.session.Recorded(addr, s)
	known = known && !s.Another
	completed := known && !entry.Incomplete()
	switch p := s.Part.(type) {
	case *change.Valid:
		p.Adopted = !s.ReadOnly && !completed
		p.Made = p.Adopted && known && !entry.Adopted
	case *change.Create:
		if completed {
			p.Since = b.session.Since(addr, s, in, nil)
		}
	case *change.Update:
		p.Adopted = !s.ReadOnly && !known
		if completed && in.Refresh {
			p.Since = b.session.Since(addr, s, in, owed(b, s, entry))
		} else if completed {
			p.Since = b.session.Since(addr, s, in, nil)
		}
		if known && entry.Incomplete() && s.Reason == nil {
			s.Reason = reason.New(reason.Unfinished)
		}
	}
	if !completed || s.Change() == Create || string(entry.Config) == string(s.Config) {
		return
	}
	if p, valid := s.Part.(*change.Valid); valid && jsondoc.Same(entry.State, p.State) {
		p.Edited = observe.Edits(entry.Config, s.Config, entry.Sensitive.Config, s.Sensitive)
	}
	if b.identified.result.Pair(addr).MayStay && len(s.Init.Identity) == 0 && !s.Publishes {
		s.Notes = append(s.Notes, reason.New(reason.MayStay))
	}
}

// expect defers a resource, and notes the expected change: one without an entry will be
// created, and one that was recorded with another config will be updated. For a recorded
// resource it also notes the recorded config, to show the difference.
func (b *builder) expect(r *config.Resource, s *Step) {
	p := &change.Deferred{}
	s.Part = p
	entry, known := b.Prior.Completed(r.Address)
	entry = observe.Completed(b.session.Prober, s.Init, entry, s.Config)
	switch {
	case known && !s.Another:
		p.Was = &change.Was{State: entry.Config, Sensitive: entry.Sensitive.Config}
		p.Inputs = inputs.Only(owed(b, s, entry), inputs.Pending) // no other input is known yet
		if !r.ReadOnly && observe.ConfigsDiffer(entry.Config, s.Config, s.Unknown) {
			p.Expected = Update
		}
		if b.identified.result.Pair(r.Address).MayStay && len(s.Init.Identity) == 0 && !s.Publishes && string(entry.Config) != string(s.Config) {
			s.Notes = append(s.Notes, reason.New(reason.MayStay))
		}
	case !r.ReadOnly:
		p.Expected = Create
	}
}
