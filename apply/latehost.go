package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"deployster/apply/fresh"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/latehost"
	"deployster/plan/observe"
	"deployster/plan/plugs"
	"deployster/protocol"
)

// Reacher reaches hosts whose settings use states.
type Reacher interface {
	// Reach connects to a host, and closes the connection to another host of that name.
	Reach(ctx context.Context, h runner.Host) (protocol.HostFacts, error)
	// Forget closes the connection to a host: another machine is in its place.
	Forget(name string)
	// Look returns where plugs lead on a host, in the order of the list.
	Look(ctx context.Context, h runner.Host, list []config.Plug) ([]plugs.Led, error)
}

// lateHosts finds the hosts whose settings use states.
type lateHosts struct{ *run }

// of returns the step with its present host, where the settings of that use states and the
// plan could not know it. It fails where the host is still unknown, or where the plan showed
// what to do on the host that it knew, and the host is another now.
func (r lateHosts) of(step *plan.Step, out *outcome) (*plan.Step, bool) {
	on := step.Settings.Host
	if on == nil || step.Intent() == protocol.Absent {
		return step, true
	}
	host, open, late, diags := config.LateHost(r.manifest, on.Name, r.scope(out.addr))
	switch {
	case !late:
		return step, true
	case diags.HasErrors():
		out.fail(failedConfig, firstError(diags))
	case len(open) > 0:
		out.fail(failedConfig, diag.Errorf("A host is still not known", "host.%s is made of %s, which is not in the state that was "+
			"reached. `deployster show` prints that state.", on.Name, strings.Join(open, ", ")))
	case host.SameWay(*on):
		if r.anew(host.Name) && step.Flexible() {
			return r.reach(step, out, host)
		}
		return step, true
	case !step.Flexible():
		out.fail(failedConfig, fresh.Stale("its host is another",
			fmt.Sprintf("host.%s is reached as %s now, and the plan showed what to do on %s. %s", on.Name, host, on, whatNow)))
	default:
		return r.reach(step, out, host)
	}
	out.report.NotAttempted = out.report.Planned
	return nil, false
}

// remade are the hosts whose machines the plan creates, though there are entries on them.
type remade struct {
	mu    sync.Mutex
	hosts map[string]bool // by name: the connection to the earlier machine is closed; nil = not computed yet
}

// anew reports whether this plan creates the machine of a host. It closes the connection to
// the earlier machine once: that may still answer, or not be known to be dead.
func (r lateHosts) anew(name string) bool {
	a := &r.remade
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hosts == nil {
		a.hosts = map[string]bool{}
		recorded := observe.RecordedViews(r.prior, func(string) observe.View { return observe.View{} })
		known := latehost.Known(r.manifest, func(addr string) observe.View {
			if step := r.plan.Resources[addr]; step != nil && (step.Change() == plan.Create || step.Change() == plan.Replace) {
				return observe.View{}
			}
			return recorded(addr)
		}, r.prior)
		for _, h := range r.manifest.Hosts() {
			if _, there := known[h.Name]; !there && len(h.Late) > 0 {
				a.hosts[h.Name] = false
			}
		}
	}
	given, is := a.hosts[name]
	if is && !given && r.options.Reacher != nil {
		r.options.Reacher.Forget(name)
		a.hosts[name] = true
	}
	return is
}

// reach connects to a host, and finds where the plugs of a step lead there.
func (r lateHosts) reach(step *plan.Step, out *outcome, host runner.Host) (*plan.Step, bool) {
	if r.options.Reacher == nil {
		out.fail(failedConfig, errors.New("this program cannot reach hosts"))
		return nil, false
	}
	facts, err := r.options.Reacher.Reach(r.work, host)
	if err != nil {
		out.failQuery(err)
		return nil, false
	}
	if err := r.facts.SetHost(host, facts, r.hostNames()); err != nil {
		out.fail(failedConfig, err)
		return nil, false
	}
	host.Machine = facts.Machine
	now := *step
	now.Settings.Host = &host
	var all bool
	now.Mounts, all = r.led(step, out, host)
	return &now, all
}

// hostNames returns the names of the declared hosts.
func (r lateHosts) hostNames() (names []string) {
	for _, h := range r.manifest.Hosts() {
		names = append(names, h.Name)
	}
	return names
}

// led finds where the plugs of a step lead on a host. The host gets all plugs of the
// manifest: it does not follow a link in a plug that types may write to for another plug.
func (r lateHosts) led(step *plan.Step, out *outcome, host runner.Host) (mounts []runner.Mount, all bool) {
	var asked []config.Plug
	for _, m := range step.Mounts {
		if _, _, versioned := artifact.ParseMount(m.Source); !versioned { // else its files are fetched
			asked = append(asked, config.Plug{Name: m.Target, Path: m.Source, ReadOnly: true}) // the manifest says who may write
		}
	}
	found, err := r.options.Reacher.Look(r.work, host, append(asked, plugs.OnHosts(r.manifest.Plugs())...))
	if err != nil {
		out.failQuery(err)
		return nil, false
	}
	mounts = slices.Clone(step.Mounts)
	for i, plug := range asked {
		at := slices.IndexFunc(mounts, func(m runner.Mount) bool { return m.Target == plug.Name })
		if mounts[at].Source = found[i].Path; found[i].Err != nil {
			out.fail(failedConfig, diag.Errorf("Plug path does not exist on its host",
				"%s gets %s of %s as %s: %s. Create it there, or declare another path.",
				config.Reference(out.addr), plug.Path, host.Name, plug.Name, found[i].Err))
			return nil, false
		}
	}
	return mounts, true
}
