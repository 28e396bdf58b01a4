package plugs

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// Resolve returns where plugs lead on a host, in the order of the list.
type Resolve func(ctx context.Context, h runner.Host, list []config.Plug) ([]Resolved, error)

// Resolved is where a plug leads.
type Resolved struct {
	Path string // without symbolic links
	Err  error
}

// OnHosts returns the plugs with paths on a host, as a host is asked for them: a path in the
// home directory begins with ~, as the host knows the home directory of its user.
func OnHosts(list []config.Plug) (asked []config.Plug) {
	for _, p := range list {
		if p.Artifact == "" && p.Content == "" && p.Base == "" {
			p.Path = onHosts(p)
			asked = append(asked, p)
		}
	}
	return asked
}

func onHosts(p config.Plug) string { return cmp.Or(p.Home, p.Path) }

// hostPaths reports where all plugs lead on one host.
type hostPaths struct {
	once  sync.Once
	paths map[string]Resolved // by the plug's name
	err   error
}

// onHost returns where a plug leads on the host of a resource, or "" with a diagnostic
// that reports why that is not possible.
func (p *Plugs) onHost(ctx context.Context, r *config.Resource, plug config.Plug) (string, diag.Diagnostics) {
	host := *r.Settings.Host
	if plug.Base != "" {
		return "", diag.Diagnostics{plugError(r, "A relative path on another machine",
			"The path of the plug %q begins at the working directory, which is on this machine, and the resource is on %s. Write it "+
				"absolute.",
			plug.Name, host.Name)}
	}
	if host.Address == "" {
		return onHosts(plug), nil // where it leads is found when the host is known
	}
	led, err := p.resolveOn(ctx, host, plug.Name)
	switch {
	case err != nil:
		return "", diag.Diagnostics{plugError(r, "Cannot query a host", "The target of the plug %q there is unknown: %s.", plug.Name, err)}
	case led.Err != nil:
		return "", diag.Diagnostics{errPlugPath(r, plug, led.Err)}
	}
	return led.Path, nil
}

// resolveOn returns where a plug leads on a host. It queries each host once, for all plugs.
func (p *Plugs) resolveOn(ctx context.Context, host runner.Host, name string) (Resolved, error) {
	p.mu.Lock()
	s := p.hosts[host.Name]
	if s == nil {
		s = &hostPaths{paths: map[string]Resolved{}}
		p.hosts[host.Name] = s
	}
	p.mu.Unlock()
	s.once.Do(func() {
		if p.resolve == nil {
			s.err = errors.New("hosts cannot be reached here")
			return
		}
		list := OnHosts(slices.SortedFunc(maps.Values(p.byName), func(a, b config.Plug) int { return strings.Compare(a.Name, b.Name) }))
		led, err := p.resolve(ctx, host, list)
		if s.err = err; err != nil {
			return
		}
		for i, plug := range list {
			s.paths[plug.Name] = led[i]
		}
	})
	return s.paths[name], s.err
}
