package app

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"deployster/config"
	"deployster/internal/app/hosts"
	"deployster/internal/app/images"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/plan/begins"
	"deployster/plan/latehost"
	"deployster/plan/plugs"
	"deployster/state"
)

// HostOptions say how a command treats hosts.
type HostOptions struct {
	FailUnreachable bool // an unreachable host is an error; else the resources on it are left unchanged
	AtOnce          int  // so many hosts are worked on concurrently; 0 = order.Hosts
	MaxFailed       int  // of an apply: after so many failed hosts it starts no further one; 0 = no limit
}

// connections is how many connections are open at a time, unless more hosts are worked on. A plan
// visits all hosts three times: for facts, for plugs and for states. A host whose connection was
// closed to make room is connected to again each time, and its workers start again.
const connections = 256

// here is this machine as a place.
type here struct {
	runner.Runner // in workers where it can
	router.Adopter
}

// greetAs connects to the container runtime, and sets the identity that hosts are greeted
// with: a host that has acted for this state before learns its latest holder.
func (t *task) greetAs(ctx context.Context, place state.Place, store *state.Store) error {
	prior := store.Snapshot()
	t.over.FailUnreachable = t.FailUnreachable // many are asked concurrently, also where few are acted on
	lineage := state.NewID()
	if t.saved {
		lineage = begins.Lineage(t.plan.ID)
	}
	t.acts.Lineage, t.acts.Epoch = cmp.Or(prior.Lineage, lineage), int64(prior.Serial)+1
	if t.acts.Turn = store.Turn(); t.acts.Turn != 0 {
		t.acts.Store = place.String()
	}
	t.acts.Run = t.Started.UTC().Format(time.RFC3339Nano)
	t.acts.Process = "deployster " + t.command
	if _, err := t.Runtime(ctx); err != nil {
		return err
	}
	t.places.Most(max(t.AtOnce, connections))
	t.places.Known(hosts.Reachable(t.manifest))
	if t.saved { // its hosts are those of the plan, which take precedence over the recorded ones
		t.places.Known(hosts.Planned(t.plan))
	}
	return nil
}

// dialer returns a function that connects to hosts with the identity of an engine's command.
func dialer(e *Engine) func(context.Context, runner.Host) (*remote.Client, error) {
	return func(ctx context.Context, h runner.Host) (*remote.Client, error) {
		if e.options.Dial == nil {
			return nil, errors.New("this program cannot reach hosts")
		}
		return e.options.Dial(ctx, h, e.acts)
	}
}

// reach connects to the hosts that resources are on: those that the manifest declares,
// and those that only the state has. It returns the manifest with the facts of the hosts.
// It returns the selection that leaves the resources on unreachable hosts, and open:
// those with an action that may still run on an unreachable machine. The hosts that
// answered are pinned in the plan. With makes the plan may create the machines of
// unreachable hosts.
func reach(ctx context.Context, e *Engine, m *config.Manifest, prior state.Snapshot,
	s plan.Selection, makes bool, open []string) (*config.Manifest, plan.Selection, error) {
	m, late, err := withLateHosts(m, prior)
	if err != nil {
		return nil, s, err
	}
	on := hosts.Declared(m)
	e.places.Known(hosts.Reachable(m))
	found := hosts.Greet(ctx, e.places, on, e.over.AtOnce)
	if makes {
		asked := hosts.Selected(s, hosts.Recorded(hosts.Declared(m), prior))
		if m, err = madeAnew(ctx, e, m, prior, asked, found, late); err != nil {
			return nil, s, err
		}
		on = hosts.Declared(m)
	}
	if err := router.SameMachine(found.Pins); err != nil {
		return nil, s, err
	}
	former := found.Former(on, prior)
	found.Add(on, former, hosts.Greet(ctx, e.places, former, e.over.AtOnce))
	if ctx.Err() != nil || len(on) == 0 {
		return m, s, context.Cause(ctx)
	}
	facts, diags := m.WithHosts(found.Facts, late)
	if diags.HasErrors() {
		return nil, s, diags
	}
	hosts.Join(on, hosts.Declared(facts)) // with the instances that depend on facts
	s = hosts.Selected(s, on)
	workspace.SpareForHosts(e.Workspace, len(on))
	if s.Unreached, err = unreached(e, facts, prior, s.Excludes, found, on); err != nil {
		return nil, s, err
	}
	s.UnreachedHosts = map[string]string{}
	for _, name := range sorted(found.Pins) {
		if found.Pins[name].Unreachable != "" {
			s.UnreachedHosts[name] = hosts.Because(name, found.Pins[name])
		}
	}
	for _, addr := range hosts.Today(facts, prior, found.Open(open, prior)) {
		s.Unreached[addr] = cmp.Or(s.Unreached[addr], hosts.MayRun)
	}
	e.pins = found.Pins
	return facts, s, nil
}

// unreached returns the resources that are left out because hosts are unreachable, with the
// reason, and reports them.
func unreached(e *Engine, m *config.Manifest, prior state.Snapshot, excludes []string, found hosts.Reached,
	on map[string]*hosts.Resident) (map[string]string, error) {
	var diags diag.Diagnostics
	why := map[string]string{}
	left := slices.Clone(excludes)
	leave := func(list []string, because string) {
		for _, addr := range list {
			why[addr] = cmp.Or(why[addr], because)
		}
		left = append(left, list...)
	}
	for _, name := range sorted(found.Pins) {
		if reason := found.Pins[name].Unreachable; reason != "" {
			there := hosts.Today(m, prior, on[name].Addresses)
			leave(there, hosts.Because(name, found.Pins[name]))
			d := diag.Warningf("A host is unreachable", "%s (%s): %s. What is on it, and what depends on that, is left as it is: %s.",
				name, found.Pins[name].Address, reason, words.All(there))
			if e.over.FailUnreachable {
				d.Severity = diag.Error
			}
			diags = append(diags, d)
		}
	}
	if diags.HasErrors() {
		return nil, diags
	}
	if blind := notIn(found.Blind(m), left); len(blind) > 0 {
		diags = append(diags, diag.Warningf("Instances are not known", "%s: how many there are follows from facts of unreachable hosts, "+
			"so this is left as it is.", words.All(blind)))
		leave(blind, "how many there are follows from facts of hosts that cannot be reached")
	}
	if lost := notIn(hosts.Today(m, prior, found.Lost(on, prior)), left); len(lost) > 0 {
		diags = append(diags, diag.Warningf("A machine may be unreachable", "%s: the machine that this is recorded on answers under no name. It "+
			"may be one of those that are unreachable, so this is left as it is.", words.All(lost)))
		leave(lost, "the machine that it is recorded on answers under no name")
	}
	e.Diagnostics(diags)
	return why, nil
}

// notIn returns list without the elements of other.
func notIn(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}

// withLateHosts returns the manifest with the addresses of the hosts that are defined by
// recorded states.
func withLateHosts(m *config.Manifest, prior state.Snapshot) (*config.Manifest, map[string]runner.Host, error) {
	late := latehost.Recorded(m, prior)
	if len(late) == 0 {
		return m, nil, nil
	}
	m, diags := m.WithHosts(nil, late)
	return m, late, diags.Err()
}

// looker returns a function that resolves plugs on the hosts of an engine.
func looker(e *Engine) plugs.Look {
	return func(ctx context.Context, h runner.Host, list []config.Plug) ([]plugs.Led, error) {
		return hosts.Look(ctx, e.places, h, list)
	}
}

// Asking returns a client for images, here and on the hosts of a manifest, and a function
// that resolves plugs there.
func Asking(e *Engine, m *config.Manifest, prior state.Snapshot, r *images.Resolver) (*typeclient.Client, plugs.Look) {
	e.places.Known(hosts.Reachable(m))
	return e.client(prior, nil, r), looker(e)
}

// checkHosts returns an error if a host of a saved plan is another machine now, or its
// plugs are gone. An unreachable host fails later, when it is processed.
func checkHosts(ctx context.Context, e *Engine, p *plan.Plan) error {
	workspace.SpareForHosts(e.Workspace, len(p.Hosts))
	on := map[string]*hosts.Resident{}
	for _, addr := range sorted(p.Resources) {
		step := p.Resources[addr]
		if host := step.Settings.Host; host != nil && (step.Change != plan.Forget || step.Gone()) {
			if on[host.Name] == nil {
				on[host.Name] = &hosts.Resident{Host: *host}
			}
			on[host.Name].Addresses = append(on[host.Name].Addresses, addr)
		}
	}
	return hosts.Check(ctx, e.places, p, on)
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
