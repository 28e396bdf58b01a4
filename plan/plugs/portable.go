package plugs

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/runtime/runner"
	"deployster/plan/reason"
	"deployster/protocol"
)

// portable returns where a plug leads as plans and entries keep it: relative to the base
// of its path, if the path is written so and no link leads out of the base.
func portable(plug config.Plug, source string) string {
	if plug.Base == "" {
		return source
	}
	root := runner.RealDir(plug.Base)
	rel, err := filepath.Rel(root, source)
	if err != nil {
		return source
	}
	below := rel != ".." && !strings.HasPrefix(rel, "../")
	written, err := filepath.Rel(plug.Base, plug.Path)
	if below || err == nil && filepath.Join(root, written) == source {
		return rel
	}
	return source
}

// OtherPath reports that an object is removed through its recorded path, though the plug has
// another path today. Both are absolute.
type OtherPath struct{ Recorded, Today string }

// OtherPaths returns which recorded mounts lead elsewhere than the mounts of today.
// Relative sources begin at dir, whose path has no symbolic links.
func OtherPaths(dir string, recorded, today []runner.Mount) (list []OtherPath) {
	for _, t := range today {
		for _, m := range recorded {
			if was, now := m.In(dir).Source, t.In(dir).Source; m.Target == t.Target && was != now {
				list = append(list, OtherPath{Recorded: was, Today: now})
			}
		}
	}
	return list
}

// Compare returns what Today returns, and notes for people about mounts that lead
// elsewhere today. dir is that of OtherPaths. host is the host of the object; nil = this
// machine.
func (p *Plugs) Compare(ctx context.Context, dir string, host *runner.Host, recorded []runner.Mount,
	t protocol.Type) (today []runner.Mount, notes []*reason.Reason) {
	today = p.Today(ctx, host, recorded, t)
	for _, other := range OtherPaths(dir, recorded, today) {
		notes = append(notes, reason.New(reason.ThroughPath, other.Recorded, other.Today))
	}
	return today, notes
}

// Today returns the writable recorded mounts of an object whose sources differ today,
// with the sources of today: those of the plugs that its type requests.
func (p *Plugs) Today(ctx context.Context, host *runner.Host, recorded []runner.Mount, t protocol.Type) (list []runner.Mount) {
	for name, want := range t.Plugs {
		at := slices.IndexFunc(recorded, func(m runner.Mount) bool { return m.Target == want.ContainerPath && m.Writable })
		plug, declared := p.byName[name]
		if at < 0 || !declared {
			continue
		}
		if source := p.today(ctx, host, plug); source != "" && source != recorded[at].Source {
			list = append(list, runner.Mount{Source: source, Target: want.ContainerPath, Writable: true})
		}
	}
	slices.SortFunc(list, func(a, b runner.Mount) int { return strings.Compare(a.Target, b.Target) })
	return list
}

// today returns where a plug leads, as plans and entries keep it; "" = unknown on a host.
func (p *Plugs) today(ctx context.Context, host *runner.Host, plug config.Plug) string {
	if host == nil {
		source, err := p.source(plug)
		if err != nil {
			source = portable(plug, plug.Path) // whoever requests the plug now reports the error
		}
		return source
	}
	if host.Kubernetes != nil {
		return plug.Path
	}
	led, err := p.resolveOn(ctx, *host, plug.Name)
	if err != nil {
		return ""
	}
	return led.Path
}
