package plugs

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/runner"
	"deployster/protocol"
)

// portable returns where a plug leads as it is kept: relative to where its path
// begins, if it is written so and no link leads away from there.
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

// OtherPath is a place that something is removed through, because it was recorded,
// and that is not the one of today. Both are absolute.
type OtherPath struct{ Recorded, Today string }

// OtherPaths returns which of the recorded mounts lead elsewhere than those of today,
// for who works in dir, which has no symbolic links on its way.
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

// Compare returns where the mounts with which a thing was recorded lead today, if
// that is written otherwise, and what a person should know of it. dir is that of OtherPaths.
// host is where the thing is; nil = here.
func (p *Plugs) Compare(ctx context.Context, dir string, host *runner.Host, recorded []runner.Mount,
	t protocol.Type) (today []runner.Mount, notes []string) {
	today = p.Today(ctx, host, recorded, t)
	for _, other := range OtherPaths(dir, recorded, today) {
		notes = append(notes, "removed through "+other.Recorded+"; the plug is "+other.Today+" today")
	}
	return today, notes
}

// Today returns, of the writable mounts with which a thing was recorded, those
// that are written otherwise today: by the plugs that its type asks for.
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

// today is where a plug leads, as it is kept; "" = that is not known of a host.
func (p *Plugs) today(ctx context.Context, host *runner.Host, plug config.Plug) string {
	if host == nil {
		source, err := p.source(plug)
		if err != nil {
			source = portable(plug, plug.Path) // an error of who asks for it now
		}
		return source
	}
	led, err := p.sees(ctx, *host, plug.Name)
	if err != nil {
		return ""
	}
	return led.Path
}
