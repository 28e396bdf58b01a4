package app

import (
	"context"

	"deployster/internal/app/hosts"
	"deployster/plan"
	"deployster/state"
)

// reach connects to the hosts of a source. Resources on an unreachable host are left out
// until the source is read again.
func (s *Source) reach(ctx context.Context, e *Engine, saved *plan.Plan, prior state.Snapshot) (err error) {
	e.places.Most(0) // a watch keeps its connections for months
	e.places.Retry()
	if saved != nil {
		e.places.Known(hosts.Planned(saved))
	}
	s.Manifest, s.Selection, err = reach(ctx, e, s.Manifest, prior, s.Selection, false, nil)
	return err
}

// HostsLost reports whether some hosts were unreachable. They are tried again when a
// Source is read.
func (e Keeper) HostsLost() bool { return e.places.Lost() }

// act connects to hosts as a command that changes them, over connections of its own, until end is called. It
// does nothing where there are no hosts. A host that the apply itself creates counts as one.
func (t *task) act(ctx context.Context, place state.Place, store *state.Store) (end func(), err error) {
	if len(t.manifest.Hosts()) == 0 && !onHosts(store.Snapshot()) {
		return func() {}, nil
	}
	t.places = newPlaces(t.Engine)
	return t.places.Close, t.greetAs(ctx, place, store)
}

// onHosts reports whether the state has an entry on a host.
func onHosts(s state.Snapshot) bool {
	for _, e := range s.Resources {
		if e.Settings.Host != nil {
			return true
		}
	}
	return false
}
