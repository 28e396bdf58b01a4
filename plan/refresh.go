package plan

import (
	"maps"
	"slices"

	"deployster/config"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner"
	"deployster/plan/change"
	"deployster/plan/reason"
	"deployster/plan/refresh"
	"deployster/protocol"
	"deployster/state"
)

// mayUseRecorded reports whether a plan with -refresh=false may use the recorded state of
// a resource: everything that its image would be asked with equals what it was asked
// with when the resource was VALID, and nothing says that the state has changed since.
func (b *builder) mayUseRecorded(r *config.Resource, s *Step, before []string) bool {
	entry, known := b.session.Recorded(r.Address, s)
	doubt := slices.Contains(b.session.Options.Doubt, r.Address)
	if !b.Selection.NoRefresh || doubt || !known || entry.Dirty || entry.LastSeen != nil || s.MayChange {
		return false
	}
	if r.Publish != nil || entry.Digest != s.Init.Digest || entry.ReadOnly != r.ReadOnly || !jsondoc.Same(entry.Config, s.Config) ||
		!maps.Equal(entry.Aliases, r.Aliases) || len(refresh.Owed(r.Subscribes, entry, b.Prior, updates(b))) > 0 ||
		!jsondoc.SameValue(entry.Settings, s.Settings) || !slices.Equal(
		runner.MountsIn(b.session.Workdir, entry.Mounts), runner.MountsIn(b.session.Workdir, s.Mounts)) {
		return false
	}
	for _, addr := range before {
		if dep, recorded := b.step(addr), b.Prior.Resources[addr]; dep.Change() != Valid || !jsondoc.Same(dep.Answer().State, recorded.State) {
			return false
		}
	}
	return !seesDependencies(&s.Init) || b.sameConfigs(r.Aliases, map[string]bool{})
}

// updates returns a function that reports whether actions will be run for a resource, as far as is known.
func updates(b *builder) func(addr string) bool {
	return func(addr string) bool {
		s := b.step(addr)
		return s != nil && s.Change() != Valid && !s.ReadOnly && b.acts(addr)
	}
}

// seesDependencies reports whether the images of a type get the dependencies.
func seesDependencies(ty *protocol.Type) bool { return ty.Protocol == 1 || ty.Dependencies }

// sameConfigs reports whether the dependencies behind aliases, and the dependencies
// behind their aliases, have the configs with which they were recorded.
func (b *builder) sameConfigs(aliases map[string]string, seen map[string]bool) bool {
	for _, addr := range aliases {
		if seen[addr] {
			continue
		}
		seen[addr] = true
		dep := b.step(addr)
		if dep == nil {
			return false
		}
		if entry, _ := b.session.Recorded(addr, dep); !jsondoc.Same(dep.Config, entry.Config) || !b.sameConfigs(dep.Aliases, seen) {
			return false
		}
	}
	return true
}

// useRecorded makes a step valid with the recorded state.
func (b *builder) useRecorded(addr string, s *Step, entry state.Entry) {
	q := b.session.Query(addr, s, entry)
	s.Part = &change.Valid{Answer: change.Answer{State: entry.State, Hidden: q.Secrets.In(&q.Step, entry.State)}, Unrefreshed: true}
}

// recordOnly changes a step into what a plan with -refresh-only does: what was found
// is written to the state file, and no action is left that could be run.
func (b *builder) recordOnly(addr string, s *Step) {
	entry, known := b.session.Recorded(addr, s)
	a := *s.Answer()
	a.Actions, a.Shutdown, a.Forecast, s.MayChange = nil, nil, nil, false
	record := &change.Record{Answer: a}
	if p, valid := s.Part.(*change.Valid); valid {
		record.Found = p.Found
	}
	if known && !entry.Incomplete() {
		record.Was = &change.Was{State: entry.State, Sensitive: entry.Sensitive.State}
		if entry.LastSeen != nil {
			record.Was = &change.Was{State: entry.LastSeen.State, Sensitive: entry.LastSeen.Sensitive}
		}
	}
	found := s.Change()
	s.Part = &change.Left{Answer: a}
	switch {
	case found == Deferred:
		s.Reason = s.Reason.With(reason.New(reason.NoState))
	case found == Create && known && entry.Incomplete():
		s.Part, s.Reason = &change.Forget{}, reason.New(reason.IncompleteGone)
	case found == Create && known:
		s.Part, s.Reason = &change.Forget{}, reason.New(reason.Gone)
	case found == Create:
		s.Reason = reason.New(reason.MissingUnrecorded)
	case found == Publish:
		s.Reason = reason.New(reason.NotPublished)
	case found == Update && !known:
		s.Reason = reason.New(reason.DiffersUnrecorded)
	case found == Update && entry.Incomplete():
		s.Reason = reason.New(reason.DiffersUnfinished)
	case found == Update && !entry.Dirty && entry.LastSeen != nil && jsondoc.Same(entry.LastSeen.State, a.Stale):
		s.Reason = reason.New(reason.FoundBefore)
	case found == Update:
		s.Part, s.Reason = record, reason.New(reason.DiffersFromConfig)
	case known && !entry.Dirty && entry.LastSeen == nil && entry.Digest == s.Init.Digest && jsondoc.Same(entry.Config,
		s.Config) && jsondoc.Same(entry.State, a.State):
		s.Part = &change.Valid{Answer: a, Found: record.Found}
	default:
		s.Part = record
	}
}
