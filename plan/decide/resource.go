package decide

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/change"
	"deployster/plan/identity"
	"deployster/plan/inputs"
	"deployster/plan/match"
	"deployster/plan/objects"
	"deployster/plan/observe"
	"deployster/plan/query"
	"deployster/plan/reason"
	"deployster/plan/refresh"
	"deployster/plan/subject"
	"deployster/protocol"
	"deployster/state"
)

// decision is the work on one resource, whose dependencies are all decided.
type decision struct {
	decisions *Decisions // about what it waits for
	session   *query.Session
	subject   *subject.Subject
	matched   *identity.Matched

	r      *config.Resource
	before []string // what it waits for
	pair   match.Pair
	step   *change.Step

	entry   state.Entry // recorded, with the values that are not recorded as they are in the config
	known   bool        // there is such an entry
	rotated []string    // secrets whose values its object may not have
}

// decision returns the work on a resource, before anything is done.
func (d *Decisions) decision(r *config.Resource) *decision {
	_, known := d.session.Subject.Prior.Resources[r.Address]
	return &decision{decisions: d, session: d.session, subject: d.session.Subject, matched: d.Matched, r: r,
		before: subject.Predecessors(r),
		pair:   d.Matched.Pair(r.Address), known: known}
}

// decide returns the step; nil = that is not possible: the reason is reported, or the
// resource is matched again.
func (d *decision) decide(ctx context.Context) *change.Step {
	if !d.prepare(ctx) || !d.learn() || d.triggered() {
		return nil
	}
	recording := d.subject.Selection.RefreshOnly
	if d.pair.Replaced || d.subject.Replaces(d.r.Address) {
		switch ok := d.replacePair(ctx); {
		case !ok:
			return nil
		case d.step.Old() != nil || recording:
			return d.step
		}
	}
	why, ok := d.mustWait()
	if !ok {
		return nil
	}
	if d.step.Reason = why; why != nil {
		return d.beforeItsTurn(ctx)
	}
	d.step.Reason = cmp.Or(d.whyMayChange(), d.doubts())
	waiting := *d.step
	if d.step.Reason != nil {
		d.step.Certainty = change.MayChange
	}
	if !d.matched.Guessed(d.r.Address) && d.mayUseRecorded() {
		d.useRecorded()
	} else if !d.ask(ctx) {
		return nil
	}
	if recording {
		d.recordOnly()
		return d.step
	}
	return d.accepted(waiting)
}

// prepare checks the preconditions, and makes the step with the config. It reports errors.
func (d *decision) prepare(ctx context.Context) bool {
	m, addr := d.subject.Manifest, d.r.Address
	if conditional, _ := m.Conditions(addr).Any(); conditional && !d.subject.Selection.RefreshOnly {
		if _, diags := m.Conditions(addr).Before(d.scope(d.decisions.forecast)); diags.HasErrors() {
			d.report(diags) // apply checks those with unknown values right before its actions
			return false
		}
	}
	resolved, diags := d.matched.Facts.Config(m, addr, d.expected())
	if d.report(diags); diags.HasErrors() {
		return false
	}
	d.step = d.session.NewStep(ctx, d.r, resolved)
	d.session.Secret(d.step)
	d.entry, _ = d.session.Recorded(addr, d.step)
	violations := d.session.Prober.CheckConfig(d.step.Init, d.step.Config, d.step.Unknown)
	d.report(subject.Violations(m, addr, violations))
	return len(violations) == 0 && d.validated(ctx)
}

// validated has the type judge the config, and reports what it finds.
func (d *decision) validated(ctx context.Context) bool {
	if d.step.Init.ValidateAction == nil {
		return true
	}
	target := d.session.Query(d.r.Address, d.step, d.entry).Target
	found, err := d.session.Prober.Validate(ctx, target, d.step.Init, d.step.Config, d.step.Unknown)
	diags := append(diag.From("Cannot validate the config", err), subject.Findings(d.subject.Manifest, d.r.Address, found)...)
	d.report(diags)
	return !diags.HasErrors()
}

// report reports diagnostics with the place of the resource.
func (d *decision) report(diags diag.Diagnostics) { d.session.Findings.Report(d.r, "", diags) }

// scope returns the states that the expressions of the resource may use.
func (d *decision) scope(view func(string) observe.View) config.States {
	return observe.States(append(slices.Clone(d.before), d.r.Address), view, d.subject.Prior)
}

// expected is scope as dependencies are expected to be.
func (d *decision) expected() config.States { return d.scope(d.decisions.view) }

// doubts returns why a removal of the plan may destroy the object; nil = none does.
func (d *decision) doubts() *reason.Reason { return d.matched.Facts.Doubts(d.r.Address) }

// own reports whether the entry at the address is of the object of the resource.
func (d *decision) own() bool { return d.known && !d.step.OtherObject }

// accepted returns what is to be done about a resource that has answered; nil = that is not allowed: it is reported.
// waiting is the step without the answer.
func (d *decision) accepted(waiting change.Step) *change.Step {
	s := d.step
	if s.ReadOnly && s.Change() != observe.Valid && s.Certainty == change.MayChange {
		*s = waiting // a change of its dependencies may make it valid
		d.expect()
		return s
	}
	if s.Certainty == change.MayChange && s.Change() != observe.Valid && d.onlyInOrder() {
		s.Certainty = change.Early
	}
	if s.Certainty == change.MayChange && d.independent() {
		s.Certainty = change.QueriedAgain
	}
	if s.ReadOnly && s.Change() != observe.Valid {
		d.report(diag.Diagnostics{{Severity: diag.Error, Summary: "Read-only resource differs from its config",
			Detail: fmt.Sprintf("It is read_only, so deployster does not change it, but its image returned %s instead of VALID. Fix it "+
				"outside of deployster, or change its config to match.", s.Answered()),
			Address: d.r.Address, Action: "state"}})
		return nil
	}
	if diags := append(d.noteDestroyed(), d.postconditions()...); diags.HasErrors() {
		d.report(diags)
		return nil
	}
	return s
}

// ask queries the state, and puts what follows into the step.
func (d *decision) ask(ctx context.Context) bool {
	q, o, ok := d.queried(ctx)
	if !ok {
		return false
	}
	if d.matched.Guessed(d.r.Address) && !d.confirm(ctx, q, o.Answer) {
		return false
	}
	d.answered(q.Input, o)
	return true
}

// answered puts an answer about the state, and what follows from it, into the step.
func (d *decision) answered(in protocol.StateInput, o observe.Observation) {
	s := d.step
	s.Take(o)
	d.compareWithPrior(in)
	if p, publishes := s.Part.(*change.Publish); publishes && d.known && len(d.entry.Config) > 0 {
		p.Was = &change.Was{State: d.entry.Config, Sensitive: d.entry.Sensitive.Config}
	}
	note := objects.RecreatedNote(d.entry, s.Type, s.Config, s.Init.Identity)
	if d.own() && s.Change() == observe.Create && note != nil {
		s.Notes = append(s.Notes, note)
	}
}

// queried queries the state, and reports an error.
func (d *decision) queried(ctx context.Context) (q observe.Query, o observe.Observation, ok bool) {
	q, o = d.query(ctx, false)
	if o.Err != nil {
		list := d.session.Plugs.Blame(diag.From("Cannot read the state", o.Err), o.Err, d.step.Init)
		d.report(subject.Locate(d.subject.Manifest, d.r.Address, list, o.Err))
		return q, o, false
	}
	return q, o, d.mayExist(o.Answer)
}

// query queries the image for the state, and notes which actions the image is notified of.
func (d *decision) query(ctx context.Context, once bool) (observe.Query, observe.Observation) {
	q := d.session.Query(d.r.Address, d.step, d.entry)
	scope := observe.Scope{Prior: d.subject.Prior, View: d.decisions.view, Acts: d.decisions.willChange}
	q.Target.Once = once
	own := &d.entry
	if !d.own() {
		own = nil
	}
	o := d.session.Observe(ctx, &q, own, scope)
	if d.rotated = o.Answer.Rotated; len(d.rotated) > 0 && o.Err == nil {
		if note := observe.Rotation(&q.Step, o, d.own() && !d.entry.Incomplete()); note != nil {
			d.step.Notes = append(d.step.Notes, note)
		}
	}
	if q.Input.Refresh {
		d.step.Notes = append(d.step.Notes, observe.Notification(&q.Step, &d.entry, scope))
	}
	return q, o
}

// mayExist reports whether a resource that must not exist yet does not exist; else it reports an error.
func (d *decision) mayExist(answer protocol.Answer) bool {
	err := subject.Exists(d.step.New, d.step.Replaces, d.own(), answer.Status)
	if err != nil {
		d.report(diag.From("Resource exists already", err))
	}
	return err == nil
}

// noteDestroyed notes that a change destroys the existing object, and refuses it if the resource is protected or created first.
func (d *decision) noteDestroyed() diag.Diagnostics {
	s := d.step
	if s.Kind() != observe.Replace {
		return nil
	}
	why := reason.New(reason.Destructive, protocol.Destructive(s.Answer().Shutdown, s.Answer().Actions))
	s.Notes = append(s.Notes, reason.New(reason.ApprovedAsReplace).With(why))
	s.SetNotCreated(s.Answer().Stale != nil && (d.subject.Was(d.r.Address).Adopted || !d.known))
	switch {
	case d.r.PreventDestroy:
		return diag.Diagnostics{objects.Protected("It has prevent_destroy = true", why)}
	case d.matched.Facts.First(d.r.Address):
		return diag.Diagnostics{objects.CannotCreateFirst("its type replaces it, and destroys what exists first", why)}
	}
	return nil
}

// postconditions checks the postconditions of a valid resource. Apply checks those of
// other resources after their actions.
func (d *decision) postconditions() diag.Diagnostics {
	_, conditional := d.subject.Manifest.Conditions(d.r.Address).Any()
	if !conditional || d.step.Change() != observe.Valid || d.step.Certainty == change.MayChange {
		return nil
	}
	_, diags := d.subject.Manifest.Conditions(d.r.Address).After(d.scope(func(addr string) observe.View {
		if addr == d.r.Address {
			return d.step.View()
		}
		return d.decisions.view(addr)
	}))
	return diags
}

// compareWithPrior notes what follows from the entry in the state file: that the resource
// is adopted, that it has drifted, or that its config was changed without effect.
func (d *decision) compareWithPrior(in protocol.StateInput) {
	s, entry, addr := d.step, d.entry, d.r.Address
	completed := d.own() && !entry.Incomplete()
	switch p := s.Part.(type) {
	case *change.Valid:
		p.Adopted = !s.ReadOnly && !completed
		p.Made = p.Adopted && d.own() && !entry.Adopted
	case *change.Create:
		if completed {
			p.Since = d.session.Since(addr, s, in, nil)
		}
	case *change.Update:
		p.Adopted = !s.ReadOnly && !d.own()
		if completed && in.Refresh {
			p.Since = d.session.Since(addr, s, in, append(d.owed(), inputs.Rotated(d.rotated)...))
		} else if completed {
			p.Since = d.session.Since(addr, s, in, inputs.Rotated(d.rotated))
		}
		if d.own() && entry.Incomplete() && s.Reason == nil {
			s.Reason = reason.New(reason.Unfinished)
		}
	}
	if !completed || s.Change() == observe.Create || string(entry.Config) == string(s.Config) {
		return
	}
	if p, valid := s.Part.(*change.Valid); valid && sameState(entry, p.State) {
		p.Edited = observe.Edits(entry.Config, s.Config, entry.Sensitive.Config, s.Sensitive)
	}
	d.noteMayStay()
}

// noteMayStay notes that the recorded object may stay, if it is unknown whether the config means it.
func (d *decision) noteMayStay() {
	if s := d.step; d.pair.MayStay && len(s.Init.Identity) == 0 && !s.Publishes && string(d.entry.Config) != string(s.Config) {
		s.Notes = append(s.Notes, reason.New(reason.MayStay))
	}
}

// owed returns what the resource is to be notified of.
func (d *decision) owed() []inputs.Change {
	prior := d.subject.Prior
	return inputs.Refresh(refresh.Owed(d.step.Subscribes, d.entry, prior, d.decisions.willChange), prior, d.decisions.willChange)
}
