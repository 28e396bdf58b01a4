package plan

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"deployster/config"
	"deployster/plan/change"
	"deployster/plan/latehost"
	"deployster/plan/observe"
	"deployster/plan/reason"
	"deployster/plan/subject"
	"deployster/plan/things"
)

// beforeItsTurn decides a resource that waits for what does not exist yet, or is not known. If it
// waits in order only, its image is queried early, and the answer counts; else, and after an error of
// that query, the resource is deferred. nil = the change is not allowed: it is reported.
func beforeItsTurn(ctx context.Context, b *builder, r *config.Resource, before []string, s *Step) *Step {
	if !onlyInOrder(b, r, before, s) {
		entry, first := b.Prior.Resources[r.Address], b.identified.first[r.Address]
		if note := things.Twice(s.Init, s.Unknown, entry, s.Another || s.ReadOnly, first); note != nil {
			s.Notes = append(s.Notes, note)
		}
		b.expect(r, s)
		return foreseen(ctx, b, r, s)
	}
	waiting := *s
	s.MayChange = true
	q, o := stateOf(ctx, b, r, s, true)
	if o.Err != nil {
		waiting.Reason = waiting.Reason.With(reason.New(reason.NoEarlyAnswer))
		b.expect(r, &waiting)
		return &waiting
	}
	if !notTaken(b, r, s, o.Answer) {
		return nil
	}
	answered(b, r, s, q.Input, o)
	return accepted(b, r, before, s, waiting)
}

// onlyInOrder reports whether nothing but the order keeps a resource from being done now: its type
// can be queried ahead, its config is known, and it takes nothing from what this plan changes.
func onlyInOrder(b *builder, r *config.Resource, before []string, s *Step) bool {
	return s.Init.Unknowns && fixed(b, r, before, s) && !subject.Takes(r, b.acts)
}

// independent reports whether what a resource waits for cannot change it: its config is known, with each
// value in a forecast that it takes from a changed resource, and its type is independent, or nothing acts.
func independent(b *builder, r *config.Resource, before []string, s *Step) bool {
	return (s.Init.Independent || !slices.ContainsFunc(before, b.acts)) && fixed(b, r, before, s) && !subject.Sees(r, b.acts)
}

// fixed reports whether the config of a resource, its host and what it means are known for certain.
func fixed(b *builder, r *config.Resource, before []string, s *Step) bool {
	open, _ := latehost.Open(b.Manifest, s.Settings.Host, b.scope(r.Address, before, b.look)) // errors are reported
	return len(s.Unknown)+len(s.Staying) == 0 && open == nil && !b.Selection.RefreshOnly && b.identified.doubts[r.Address] == nil
}

// acts reports whether an apply runs actions for a resource, or may run some.
func (b *builder) acts(addr string) bool {
	switch s := b.step(addr); s.Change() {
	case Valid:
		return s.MayChange
	case Record, Left, Forget:
		return false
	}
	return true
}

// mustWait returns why a resource cannot be queried yet, or nil. Not ok = an error was reported.
func mustWait(b *builder, r *config.Resource, before []string, s *Step) (why *reason.Reason, ok bool) {
	open, diags := latehost.Open(b.Manifest, s.Settings.Host, b.scope(r.Address, before, b.look))
	b.Report(r, "", diags)
	return cmp.Or(b.whyDeferred(r.Address, before, s), open), !diags.HasErrors()
}

func (b *builder) whyDeferred(addr string, before []string, s *Step) *reason.Reason {
	why := reason.Common(before, func(addr string) reason.Code {
		if s := b.step(addr); s.Change() != Left || s.Answer().Stale == nil {
			return opens[s.Change()]
		}
		return ""
	})
	if why != nil {
		return why
	}
	if len(s.Unknown) > 0 {
		return reason.New(reason.UnknownValues, slices.Compact(slices.Sorted(maps.Values(s.Unknown)))...)
	}
	if _, known := b.Prior.Resources[addr]; !known {
		return b.identified.doubts[addr]
	}
	return nil
}

// opens says, by the change of a resource, why what depends on it cannot be queried yet.
var opens = map[Change]reason.Code{Create: reason.NotCreated, Publish: reason.ToPublish, Replace: reason.ToReplace,
	Forget: reason.DependencyGone, Left: reason.Unreadable, Deferred: reason.Deferred}

func (b *builder) whyMayChange(before []string) *reason.Reason {
	return reason.Common(before, func(addr string) reason.Code {
		switch s := b.step(addr); {
		case s.Change() == Update:
			return reason.ToUpdate
		case s.MayChange:
			return reason.MayChange
		case s.Again:
			return reason.QueriedAgain
		}
		return ""
	})
}

// foreseen returns a deferred step with what its image expects, where the image can be asked
// about unknown values; nil = the image failed, or the change is not allowed: it is reported.
func foreseen(ctx context.Context, b *builder, r *config.Resource, s *Step) *Step {
	open, _ := latehost.Open(b.Manifest, s.Settings.Host, b.scope(r.Address, subject.Predecessors(r), b.look)) // errors are reported
	if open != nil || b.identified.doubts[r.Address] != nil || !observe.AcceptsUnknown(&s.Init, s.Unknown) {
		return s
	}
	waiting, deferred := *s, *s.Part.(*change.Deferred)
	_, o, ok := queried(ctx, b, r, s)
	if !ok {
		return nil
	}
	s.Take(o)
	switch found := s.Kind(); {
	case found == Valid:
		s.MayChange = true
		s.Part.(*change.Valid).Inputs = deferred.Inputs
	case s.ReadOnly:
		return &waiting // a change of its dependencies may make it valid
	default:
		deferred.Answer, deferred.Expected = *s.Answer(), found
		s.Part = &deferred
	}
	if diags := noteDestroyed(b, r, s); diags.HasErrors() {
		b.Report(r, "", diags)
		s = nil
	}
	return s
}
