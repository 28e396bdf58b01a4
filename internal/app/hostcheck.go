package app

import (
	"context"
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/app/hosts"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/remote/router"
)

// HostCheck is the result of checking a host.
type HostCheck struct {
	Name string     `json:"name"`
	Pin  router.Pin `json:"host"`
	hosts.Condition
}

// CheckHosts connects to hosts, installs the missing parts of deployster there, and
// returns their condition. No names means all hosts that the manifest declares.
func CheckHosts(ctx context.Context, e *Engine, in workspace.Inputs, names []string) ([]HostCheck, error) {
	m, err := e.Workspace.Manifest(ctx, in)
	if err != nil {
		return nil, err
	}
	machine, err := e.Machine(ctx)
	if err != nil {
		return nil, err
	}
	prior, err := e.Workspace.ReadState(ctx, e.Workspace.StatePlace(m))
	if err == nil {
		m, _, err = hosts.WithLate(m, prior)
	}
	if err != nil {
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
		return nil, diag.Errorf("No such host", "The hosts that the manifests declare: %s.", words.All(hostNames(m)))
	}
	found := hosts.Greet(ctx, machine.Places, on, 0)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var list []HostCheck
	for _, name := range slices.Sorted(maps.Keys(found.Pins)) {
		list = append(list, HostCheck{Name: name, Pin: found.Pins[name], Condition: found.Conditions[name]})
	}
	return list, router.SameMachine(found.Pins)
}

func hostNames(m *config.Manifest) []string {
	var names []string
	for _, h := range m.Hosts() {
		names = append(names, h.Name)
	}
	return names
}
