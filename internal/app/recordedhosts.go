package app

import (
	"context"
	"slices"

	"deployster/config"
	"deployster/internal/app/hosts"
	"deployster/state"
	"deployster/state/actions"
)

// placed returns a state in which each entry on a host has the host that its machine is
// today, as a plan does. It connects to hosts only if an action may be open on one, or if
// too selects an entry on one.
func placed(ctx context.Context, e *Engine, m *config.Manifest, prior state.Snapshot, too func(actions.Unsettled) bool) (state.Snapshot,
	error) {
	var begun []string
	for _, addr := range sorted(prior.Unsettled) {
		if u := prior.Unsettled[addr]; prior.Resources[addr].Settings.Host != nil && (len(u.Open()) > 0 || too(u)) {
			begun = append(begun, addr)
		}
	}
	if len(begun) == 0 {
		return prior, nil
	}
	m, late, err := withLateHosts(m, prior)
	if err != nil {
		return prior, err
	}
	on := hosts.Declared(m)
	e.places.Known(hosts.Reachable(m))
	found := hosts.Greet(ctx, e.places, on, e.over.AtOnce)
	former := found.Former(on, prior)
	found.Add(on, former, hosts.Greet(ctx, e.places, former, e.over.AtOnce))
	if ctx.Err() != nil {
		return prior, context.Cause(ctx)
	}
	for name := range late { // a host that is switched off may be on again when it is tried next
		open := slices.ContainsFunc(on[name].Addresses, func(addr string) bool { return slices.Contains(begun, addr) })
		if found.Pins[name].Unreachable != "" && !open {
			e.places.Forget(name)
		}
	}
	m, diags := m.WithHosts(found.Facts, late)
	return hosts.Placed(m, found.Pins, prior), diags.Err()
}
