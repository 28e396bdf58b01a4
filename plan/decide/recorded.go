package decide

import (
	"maps"
	"slices"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner"
	"deployster/plan/change"
	"deployster/plan/observe"
	"deployster/plan/reason"
	"deployster/plan/refresh"
	"deployster/protocol"
	"deployster/state"
)

// mayUseRecorded reports whether a plan with -refresh=false may use the recorded state of
// a resource: everything that its image would be queried with equals what it was queried
// with when the resource was VALID, and nothing indicates that the state has changed since.
func (d *decision) mayUseRecorded() bool {
	r, s, entry := d.r, d.step, d.entry
	doubt := slices.Contains(d.session.Options.Doubt, r.Address)
	if !d.subject.Selection.NoRefresh || doubt || !d.known || entry.Dirty || entry.LastSeen != nil || s.Certainty == change.MayChange {
		return false
	}
	if r.Publish != nil || entry.Digest != s.Init.Digest || entry.ReadOnly != r.ReadOnly || !sameConfig(entry, s) ||
		!maps.Equal(entry.Aliases, r.Aliases) || len(refresh.Owed(r.Subscribes, entry, d.subject.Prior, d.decisions.willChange)) > 0 ||
		!jsondoc.SameValue(entry.Settings, s.Settings) || !slices.Equal(
		runner.MountsIn(d.session.Workdir, entry.Mounts), runner.MountsIn(d.session.Workdir, s.Mounts)) {
		return false
	}
	for _, addr := range d.before {
		if dep := d.decisions.step(addr); dep.Change() != observe.Valid || !sameState(d.subject.Prior.Resources[addr], dep.Answer().State) {
			return false
		}
	}
	return !seesDependencies(&s.Init) || d.decisions.sameConfigs(r.Aliases, map[string]bool{})
}

// sameConfig reports whether an entry has the config of a step.
func sameConfig(e state.Entry, s *change.Step) bool { return jsondoc.Same(e.Config, s.Config) }

// sameState reports whether an entry has a state.
func sameState(e state.Entry, found []byte) bool { return jsondoc.Same(e.State, found) }

// seesDependencies reports whether the images of a type get the dependencies.
func seesDependencies(ty *protocol.Type) bool { return ty.Protocol == 1 || ty.Dependencies }

// useRecorded makes the step valid with the recorded state.
func (d *decision) useRecorded() {
	recorded := d.subject.Was(d.r.Address)
	q := d.session.Query(d.r.Address, d.step, recorded)
	d.step.Part = &change.Valid{Answer: change.Answer{State: recorded.State, Hidden: q.Secrets.In(&q.Step, recorded.State)},
		Unrefreshed: true}
}

// recordOnly changes the step into what a plan with -refresh-only does: what was found
// is written to the state file, and no action is left that could be run.
func (d *decision) recordOnly() {
	s, entry, known := d.step, d.entry, d.known
	a := *s.Answer()
	a.Actions, a.Shutdown, a.Forecast, s.Certainty = nil, nil, nil, change.Certain
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
	case found == observe.Deferred:
		s.Reason = s.Reason.With(reason.New(reason.NoState))
	case found == observe.Create && known && entry.Incomplete():
		s.Part, s.Reason = &change.Forget{}, reason.New(reason.IncompleteGone)
	case found == observe.Create && known:
		s.Part, s.Reason = &change.Forget{}, reason.New(reason.Gone)
	case found == observe.Create:
		s.Reason = reason.New(reason.MissingUnrecorded)
	case found == observe.Publish:
		s.Reason = reason.New(reason.NotPublished)
	case found == observe.Update && !known:
		s.Reason = reason.New(reason.DiffersUnrecorded)
	case found == observe.Update && entry.Incomplete():
		s.Reason = reason.New(reason.DiffersUnfinished)
	case found == observe.Update && !entry.Dirty && entry.LastSeen != nil && jsondoc.Same(entry.LastSeen.State, a.Stale):
		s.Reason = reason.New(reason.FoundBefore)
	case found == observe.Update:
		s.Part, s.Reason = record, reason.New(reason.DiffersFromConfig)
	case known && !entry.Dirty && entry.LastSeen == nil && entry.Digest == s.Init.Digest && sameConfig(entry, s) &&
		sameState(entry, a.State):
		s.Part = &change.Valid{Answer: a, Found: record.Found}
	default:
		s.Part = record
	}
}
