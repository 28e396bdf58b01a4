package app

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"deployster/config"
	"deployster/internal/app/hosts"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
)

// HostCheck is the result of checking a host.
type HostCheck struct {
	Name string     `json:"name"`
	Pin  router.Pin `json:"host"`
	hosts.Condition
	Cluster *remote.Found `json:"cluster,omitempty"` // what a namespace of a cluster reports; nil = it is a machine

	at runner.Host
}

// CheckHosts connects to hosts, installs the missing parts of deployster there, and
// returns their condition. No names means all hosts that the manifest declares. In a cluster it starts
// a Pod of the agent, unless noPod is set.
func CheckHosts(ctx context.Context, e *Engine, in workspace.Inputs, names []string, noPod bool) ([]HostCheck, error) {
	m, err := e.Workspace.Manifest(ctx, in)
	if err != nil {
		return nil, err
	}
	machine, err := e.Machine(ctx)
	if err != nil {
		return nil, err
	}
	if m, err = Located(ctx, e, m); err != nil {
		return nil, err
	}
	on := map[string]*hosts.Resident{}
	for _, h := range m.Hosts() {
		base, _, _ := strings.Cut(h.Name, "[")
		if len(names) == 0 || slices.Contains(names, h.Name) || slices.Contains(names, base) {
			on[h.Name] = &hosts.Resident{Host: h.Host}
		}
	}
	if len(on) == 0 {
		return nil, noHost(m)
	}
	found := hosts.Greet(ctx, machine.Places, on, 0)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var list []HostCheck
	for _, name := range slices.Sorted(maps.Keys(found.Pins)) {
		list = append(list, HostCheck{Name: name, Pin: found.Pins[name], Condition: found.Conditions[name], at: on[name].Host})
	}
	inspectClusters(ctx, machine.Places, list, remote.Inspection{Start: !noPod, All: true})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return list, router.SameMachine(found.Pins)
}

// PruneHosts removes the Pods of earlier commands that have ended on checked hosts. Their number is noted.
func PruneHosts(ctx context.Context, e *Engine, list []HostCheck) error {
	machine, err := e.Machine(ctx)
	if err != nil {
		return err
	}
	inspectClusters(ctx, machine.Places, list, remote.Inspection{Prune: true, All: true})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// inspectClusters requests what the clusters among checked hosts report. One that cannot be used counts as
// unreachable.
func inspectClusters(ctx context.Context, at *router.Places, list []HostCheck, i remote.Inspection) {
	var wait sync.WaitGroup
	for n := range list {
		h := &list[n]
		if !h.at.InCluster() || h.Pin.Facts == nil {
			continue
		}
		wait.Go(func() {
			found, err := at.Inspect(ctx, h.at, i)
			if err != nil {
				h.Pin.Unreachable = hosts.ReasonOf(err)
				return
			}
			if h.Cluster != nil && i.Prune { // what was found before is shown
				found.Facts, found.Notes = h.Cluster.Facts, h.Cluster.Notes
			}
			h.Cluster = &found
		})
	}
	wait.Wait()
}

// Located returns a manifest with the addresses of those hosts that recorded states define.
func Located(ctx context.Context, e *Engine, m *config.Manifest) (*config.Manifest, error) {
	if !slices.ContainsFunc(m.Hosts(), func(h config.Host) bool { return len(h.Late) > 0 }) {
		return m, nil
	}
	prior, err := e.Workspace.ReadState(ctx, e.Workspace.StatePlace(m))
	if err == nil {
		m, _, err = hosts.WithLate(m, prior)
	}
	return m, err
}

// Host returns a declared host by its name, or the first one of a block with several.
func Host(ctx context.Context, e *Engine, m *config.Manifest, name string) (runner.Host, error) {
	m, err := Located(ctx, e, m)
	if err != nil {
		return runner.Host{}, err
	}
	for _, h := range m.Hosts() {
		base, _, _ := strings.Cut(h.Name, "[")
		switch {
		case h.Name != name && base != name:
		case h.Address == "":
			return runner.Host{}, diag.Errorf("A host is not known yet", "host.%s needs values that are not recorded yet: apply them "+
				"first, or name another host.", h.Name)
		default:
			return h.Host, nil
		}
	}
	return runner.Host{}, noHost(m)
}

// RuntimeOn returns what runs images: this machine, or the declared host that is named. A host runs actions only for who greets
// it with an identity.
func RuntimeOn(ctx context.Context, e *Engine, in workspace.Inputs, name string, as remote.Hello) (Runtime, error) {
	if name == "" {
		return e.Runtime(ctx)
	}
	at, err := e.Machine(ctx)
	if err != nil {
		return nil, err
	}
	m, err := e.Workspace.Manifest(ctx, in)
	if err != nil {
		return nil, err
	}
	h, err := Host(ctx, e, m, name)
	if err != nil {
		return nil, err
	}
	return at.There(ctx, h, as)
}

func noHost(m *config.Manifest) error {
	if len(m.Hosts()) == 0 {
		return diag.Errorf("No such host", "No manifest declares a host: write a host block.")
	}
	return diag.Errorf("No such host", "The hosts that the manifests declare: %s.", words.All(hostNames(m)))
}

func hostNames(m *config.Manifest) []string {
	var names []string
	for _, h := range m.Hosts() {
		names = append(names, h.Name)
	}
	return names
}
