package decide

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"deployster/plan/change"
	"deployster/plan/inputs"
	"deployster/plan/latehost"
	"deployster/plan/objects"
	"deployster/plan/observe"
	"deployster/plan/reason"
	"deployster/plan/subject"
)

// beforeItsTurn decides a resource that waits for what does not exist yet, or is not known. If it
// waits in order only, its image is queried early, and the answer counts; else, and after an error of
// that query, the resource is deferred. nil = the change is not allowed, which is reported, or
// the resource is matched again.
func (d *decision) beforeItsTurn(ctx context.Context) *change.Step {
	s := d.step
	switch {
	case d.matched.Guessed(d.r.Address): // no image can be queried yet about the guess
		d.matched.Facts.Refute(d.r.Address)
		return nil
	case d.subject.Selection.RefreshOnly:
		s.Part = &change.Deferred{}
		d.recordOnly()
		return s
	case !d.onlyInOrder():
		first := d.matched.Facts.First(d.r.Address)
		if note := objects.TwoAppliesNote(s.Init, s.Unknown, d.subject.Was(d.r.Address), s.OtherObject || s.ReadOnly, first); note != nil {
			s.Notes = append(s.Notes, note)
		}
		d.expect()
		return d.deferred(ctx)
	}
	waiting := *s
	s.Certainty = change.MayChange
	q, o := d.query(ctx, true)
	if o.Err != nil {
		waiting.Reason = waiting.Reason.With(reason.New(reason.NoEarlyAnswer))
		*s = waiting
		d.expect()
		return s
	}
	if !d.mayExist(o.Answer) {
		return nil
	}
	d.answered(q.Input, o)
	return d.accepted(waiting)
}

// onlyInOrder reports whether nothing but the order keeps a resource from being done now: its type
// can be queried ahead, its config is known, and it takes nothing from what this plan changes.
func (d *decision) onlyInOrder() bool {
	return d.step.Init.Unknowns && d.fixed() && !subject.TakesValues(d.r, d.decisions.acts)
}

// independent reports whether what a resource waits for cannot change it: its config is known, with each
// value in a forecast that it takes from a changed resource, and its type is independent, or nothing acts.
func (d *decision) independent() bool {
	acts := d.decisions.acts
	return (d.step.Init.Independent || !slices.ContainsFunc(d.before, acts)) && d.fixed() && !subject.SeesMore(d.r, acts)
}

// fixed reports whether the config of a resource, its host and what it means are known for certain.
func (d *decision) fixed() bool {
	return len(d.step.Unknown)+len(d.step.MayChangeAt) == 0 && d.hostKnown() && !d.subject.Selection.RefreshOnly && d.doubts() == nil
}

// hostKnown reports whether the host of the resource is known; its errors are reported elsewhere.
func (d *decision) hostKnown() bool {
	open, _ := latehost.WhyUnknown(d.subject.Manifest, d.step.Settings.Host, d.expected)
	return open == nil
}

// mustWait returns why a resource cannot be queried yet, or nil. Not ok = an error was reported.
func (d *decision) mustWait() (why *reason.Reason, ok bool) {
	open, diags := latehost.WhyUnknown(d.subject.Manifest, d.step.Settings.Host, d.expected)
	d.report(diags)
	return cmp.Or(d.whyDeferred(), open), !diags.HasErrors()
}

func (d *decision) whyDeferred() *reason.Reason {
	why := reason.Common(d.before, func(addr string) reason.Code {
		if s := d.decisions.step(addr); s.Change() != observe.Left || s.Answer().Stale == nil {
			return deferring[s.Change()]
		}
		return ""
	})
	if why != nil {
		return why
	}
	if len(d.step.Unknown) > 0 {
		return reason.New(reason.UnknownValues, slices.Compact(slices.Sorted(maps.Values(d.step.Unknown)))...)
	}
	if !d.known {
		return d.doubts()
	}
	return nil
}

// deferring reports, by the change of a resource, why what depends on it cannot be queried yet.
var deferring = map[observe.Change]reason.Code{observe.Create: reason.NotCreated, observe.Publish: reason.ToPublish,
	observe.Replace: reason.ToReplace, observe.Forget: reason.DependencyGone, observe.Left: reason.Unreadable,
	observe.Deferred: reason.Deferred}

func (d *decision) whyMayChange() *reason.Reason {
	return reason.Common(d.before, func(addr string) reason.Code {
		switch s := d.decisions.step(addr); {
		case s.Change() == observe.Update:
			return reason.ToUpdate
		case s.Certainty == change.MayChange:
			return reason.MayChange
		case s.Certainty == change.QueriedAgain:
			return reason.QueriedAgain
		}
		return ""
	})
}

// expect defers the resource, and notes the expected change: one without an entry will be
// created, and one that was recorded with another config will be updated. For a recorded
// resource it also notes the recorded config, to show the difference.
func (d *decision) expect() {
	p, s := &change.Deferred{}, d.step
	s.Part = p
	switch {
	case d.own() && !d.entry.Incomplete():
		p.Was = &change.Was{State: d.entry.Config, Sensitive: d.entry.Sensitive.Config}
		p.Inputs = inputs.Only(d.owed(), inputs.Pending) // no other input is known yet
		if !d.r.ReadOnly && observe.ConfigsDiffer(d.entry.Config, s.Config, s.Unknown) {
			p.Expected = observe.Update
		}
		d.noteMayStay()
	case !d.r.ReadOnly:
		p.Expected = observe.Create
	}
}

// deferred returns a deferred step with what its image expects, where the image can be queried
// about unknown values; nil = the image failed, or the change is not allowed: it is reported.
func (d *decision) deferred(ctx context.Context) *change.Step {
	s := d.step
	if !d.hostKnown() || d.doubts() != nil || !observe.AcceptsUnknown(&s.Init, s.Unknown) {
		return s
	}
	waiting, deferred := *s, *s.Part.(*change.Deferred)
	_, o, ok := d.queried(ctx)
	if !ok {
		return nil
	}
	s.Take(o)
	switch found := s.Kind(); {
	case found == observe.Valid:
		s.Certainty = change.MayChange
		s.Part.(*change.Valid).Inputs = deferred.Inputs
	case s.ReadOnly:
		return &waiting // a change of its dependencies may make it valid
	default:
		deferred.Answer, deferred.Expected = *s.Answer(), found
		s.Part = &deferred
	}
	if diags := d.noteDestroyed(); diags.HasErrors() {
		d.report(diags)
		return nil
	}
	return s
}
