package hosts

import (
	"context"
	"errors"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/plugs"
	"deployster/plan/reason"
	"deployster/protocol"
)

// Reacher connects to hosts that become known while a plan is applied.
type Reacher struct{ places *router.Places }

// NewReacher returns what connects to hosts by the connections of a command.
func NewReacher(p *router.Places) Reacher { return Reacher{p} }

// Reach implements apply.Reacher.
func (r Reacher) Reach(ctx context.Context, h runner.Host) (protocol.HostFacts, error) {
	return r.places.Reach(ctx, h)
}

// Forget implements apply.Reacher.
func (r Reacher) Forget(name string) { r.places.Forget(name) }

// Look implements apply.Reacher.
func (r Reacher) Look(ctx context.Context, h runner.Host, list []config.Plug) ([]plugs.Resolved, error) {
	return ResolvePlugs(ctx, r.places, h, list)
}

// ResolvePlugs resolves the paths of plugs on a host.
func ResolvePlugs(ctx context.Context, p *router.Places, h runner.Host, list []config.Plug) ([]plugs.Resolved, error) {
	asked := make([]remote.Plug, len(list))
	for i, plug := range list {
		asked[i] = remote.Plug{Name: plug.Name, Path: plug.Path, ReadOnly: plug.ReadOnly}
	}
	seen, err := p.Look(ctx, h, asked)
	if err != nil {
		return nil, err
	}
	led := make([]plugs.Resolved, len(seen))
	for i, s := range seen {
		if led[i].Path = s.Path; s.Error != "" {
			led[i].Err = errors.New(diag.Visible(s.Error))
		}
	}
	return led, nil
}

// checkPlugs refuses a plan if a plug on a host is gone, or leads to another path now.
func checkPlugs(ctx context.Context, at *router.Places, p *plan.Plan, on *Resident) error {
	if on.Host.Kubernetes != nil {
		return nil // they are checked by form when planned
	}
	for _, addr := range on.Addresses {
		for _, mount := range p.Resources[addr].Mounts {
			if _, _, versioned := artifact.ParseMount(mount.Source); versioned || mount.Content != "" {
				continue // it is an artifact, which is fetched
			}
			led, err := ResolvePlugs(ctx, at, on.Host, []config.Plug{{Name: mount.Target, Path: mount.Source, ReadOnly: true}})
			switch {
			case err != nil:
				return err
			case led[0].Err != nil:
				return diag.Errorf("plan is stale: a plug path does not exist", "The resource %s gets %s of %s as %s, which no longer "+
					"exists: %s. Restore it, or plan again.", addr, mount.Source, on.Host.Name, mount.Target, led[0].Err)
			case led[0].Path != mount.Source:
				return diag.Errorf("plan is stale: a plug path changed", "The resource %s gets %s of %s as %s, which is a link to %s "+
					"now. Restore it, or plan again.", addr, mount.Source, on.Host.Name, mount.Target, led[0].Path)
			}
		}
	}
	return nil
}

// Because returns why a resource is left that is on an unreachable host.
func Because(name string, pin router.Pin) *reason.Reason {
	return reason.New(reason.HostUnreachable, name, pin.Unreachable)
}

// Left returns what an apply of a plan leaves undone, with the reasons in words. What only waits for a version of an artifact is
// done by a later plan, and not among it. open are the resources with an action that may still run on an unreachable machine.
func Left(p *plan.Plan, open []string) map[string]string {
	left := reason.WordsOf(p.Unreached)
	for addr := range reason.Awaited(p.Unreached) {
		delete(left, addr)
	}
	for _, addr := range open {
		if p.Resources[addr] == nil && !slices.Contains(p.LeftOut, addr) {
			left[addr] = reason.New(reason.MayRun).Words()
		}
	}
	return left
}

// NotDone is the error about what was left; nil = nothing was.
func NotDone(left map[string]string) error {
	if len(left) == 0 {
		return nil
	}
	return diag.Errorf("Not everything was done", "Left unchanged:\n%s\nPlan and apply again when these reasons no longer hold.",
		strings.Join(words.Reasons(left, 10), "\n"))
}
