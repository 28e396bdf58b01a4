package exclusive

import (
	"context"
	"maps"
	"slices"

	"deployster/config"
	"deployster/plan/change"
	"deployster/plan/match"
	"deployster/plan/observe"
	"deployster/plan/reason"
	"deployster/state"
)

// steps returns what is done about the objects that are neither declared nor kept, and about those that an apply began to
// destroy, by address.
func (s *set) steps(ctx context.Context) map[string]*change.Step {
	all := map[string]*change.Step{}
	prior := s.session.Subject.Prior.Resources
	for _, id := range slices.Sorted(maps.Keys(s.doomed)) {
		addr := config.ExclusiveAddress(s.Name, id)
		if _, begun := prior[addr]; begun {
			continue
		}
		item := Item{Identity: id}
		if !s.purges() {
			s.Undone = append(s.Undone, item)
			continue
		}
		step, err := s.destroy(ctx, addr, s.step(s.doomed[id]), nil)
		switch {
		case err != nil:
			s.Kept = append(s.Kept, Item{id, reason.New(reason.KeptUnread, oneLine(err))})
		case step != nil:
			all[addr] = step
			s.Purge = append(s.Purge, item)
		}
	}
	for _, addr := range slices.Sorted(maps.Keys(prior)) {
		if config.ExclusiveSet(addr) == s.Name && s.session.Subject.Wanted(addr) {
			all[addr] = s.begun(ctx, addr, prior[addr])
		}
	}
	return all
}

// purges reports whether this plan destroys what is neither declared nor kept.
func (s *set) purges() bool { return len(s.Held) == 0 && s.session.Subject.Selection.Purge }

// step returns the step of an object that the type lists, before its state is queried.
func (s *set) step(of found) *change.Step {
	hidden := observe.HiddenInConfig(s.session.Prober, s.typ, config.Resolved{Value: of.config, Sensitive: s.block.Config.Sensitive})
	return &change.Step{Type: s.block.Image, Config: of.config, Sensitive: hidden, Init: s.typ, Pull: s.block.Pull, Verify: s.block.Verify,
		Settings: s.block.Settings, RunsWith: s.block.Settings.Widened(), Mounts: s.target.Mounts, Exclusive: s.Name,
		Timeouts:  change.Timeouts{State: state.Duration(s.block.Timeouts.State), Action: state.Duration(s.block.Timeouts.Action)},
		SecretEnv: observe.HiddenInEnv(s.session.Subject.Manifest, s.block.Settings.Env), Reason: reason.New(reason.Purged, s.Name)}
}

// destroy queries how an object is destroyed; nil = it does not exist. entry is what is recorded of it; nil = nothing is.
func (s *set) destroy(ctx context.Context, addr string, step *change.Step, entry *state.Entry) (*change.Step, error) {
	s.session.Secret(step)
	recorded := state.Entry{}
	if entry != nil {
		recorded = *entry
	}
	step.Part = &change.Destroy{}
	q, prior := s.session.Query(addr, step, recorded), s.session.Subject.Prior
	none := func(string) observe.View { return observe.View{} }
	o := s.session.Observe(ctx, &q, entry, observe.Scope{Prior: prior, View: observe.RecordedViews(prior, none)})
	if o.Err != nil {
		return nil, o.Err
	}
	step.Take(o)
	p, destroys := step.Part.(*change.Destroy)
	if !destroys {
		return nil, nil
	}
	p.NotCreated = true
	return step, nil
}

// begun returns the step of an object that an apply began to destroy.
func (s *set) begun(ctx context.Context, addr string, entry state.Entry) *change.Step {
	object := s.recordedObject(entry)
	_, id, _ := match.IdentityOf(object)
	step := s.session.RecordedStep(entry)
	step.Exclusive, step.Init = s.Name, s.typ
	why := reason.New(reason.Purged, s.Name)
	forget := func(why *reason.Reason) *change.Step {
		step.Part, step.Reason = &change.Forget{}, why
		return step
	}
	leave := func(also *reason.Reason) *change.Step {
		step.Part, step.Reason = &change.Left{}, why.With(also)
		s.Undone = append(s.Undone, Item{Identity: id})
		return step
	}
	if kept := s.keeps(id, object); kept != nil {
		return forget(reason.New(reason.KeptNow).With(kept, reason.New(reason.Leftover)))
	}
	switch {
	case s.declares(object):
		return forget(reason.New(reason.DeclaredNow).With(reason.New(reason.Leftover)))
	case len(s.Held) > 0:
		return leave(reason.New(reason.HeldBack))
	case !s.purges():
		return leave(reason.New(reason.OnlyPurge))
	}
	next, err := s.destroy(ctx, addr, step, &entry)
	switch {
	case err != nil:
		return leave(reason.New(reason.PurgeUnread, oneLine(err)))
	case next == nil:
		return forget(why.With(reason.New(reason.GoneAlready)))
	}
	next.Reason = why.With(reason.New(reason.AlsoPurging))
	s.Purge = append(s.Purge, Item{Identity: id})
	return next
}
