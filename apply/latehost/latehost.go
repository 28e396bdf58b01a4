package latehost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"deployster/apply/fresh"
	"deployster/apply/query"
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
	Look(ctx context.Context, h runner.Host, list []config.Plug) ([]plugs.Resolved, error)
}

// QueryError is the failure of a host that could not be used. Other errors are faults of the config.
type QueryError struct{ Err error }

func (e *QueryError) Error() string { return e.Err.Error() }

// Unwrap returns what the host, or the way to it, has failed with.
func (e *QueryError) Unwrap() error { return e.Err }

// Hosts are the hosts of an apply whose settings use states. They are safe for concurrent use.
type Hosts struct {
	known   *query.Queries
	reacher Reacher // nil = there are none that can be reached
	work    context.Context

	mu     sync.Mutex
	remade map[string]bool // by name, see made: the connection to the earlier machine is closed; nil = not computed yet
}

// New returns the late hosts of an apply with what its queries know. work ends at its second interrupt.
func New(work context.Context, known *query.Queries, reacher Reacher) *Hosts {
	return &Hosts{known: known, reacher: reacher, work: work}
}

// Of returns the step with its present host, where the settings of that use states and the
// plan could not know it. It fails where the host is still unknown, or where the plan showed
// what to do on the host that it knew, and the host is another now. whatNow ends that error.
func (h *Hosts) Of(step *plan.Step, addr, whatNow string) (*plan.Step, error) {
	on := step.Settings.Host
	if on == nil || step.Intent() == protocol.Absent {
		return step, nil
	}
	host, open, late, diags := config.LateHost(h.known.Manifest, on.Name, h.known.Scope(addr))
	switch {
	case !late:
		return step, nil
	case diags.HasErrors():
		return nil, diags.FirstError()
	case len(open) > 0:
		return nil, diag.Errorf("A host is still not known", "host.%s is made of %s, which is not in the state that was "+
			"reached. `deployster show` prints that state.", on.Name, strings.Join(open, ", "))
	case host.SameWay(*on):
		if h.made(host.Name) && step.Flexible() {
			return h.reach(step, addr, host)
		}
		return step, nil
	case !step.Flexible():
		return nil, fresh.Stale("its host is another",
			fmt.Sprintf("host.%s is reached as %s now, and the plan showed what to do on %s. %s", on.Name, host, on, whatNow))
	default:
		return h.reach(step, addr, host)
	}
}

// made reports whether this plan creates the machine of a host, though there are entries on it. It
// closes the connection to the earlier machine once: that may still answer, or not be known to be dead.
func (h *Hosts) made(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.remade == nil {
		h.remade = map[string]bool{}
		prior, manifest := h.known.Prior, h.known.Manifest
		recorded := observe.RecordedViews(prior, func(string) observe.View { return observe.View{} })
		known := latehost.Known(manifest, func(addr string) observe.View {
			if step := h.known.Plan.Resources[addr]; step != nil && (step.Change() == plan.Create || step.Change() == plan.Replace) {
				return observe.View{}
			}
			return recorded(addr)
		}, prior)
		for _, host := range manifest.Hosts() {
			if _, there := known[host.Name]; !there && len(host.Late) > 0 {
				h.remade[host.Name] = false
			}
		}
	}
	given, is := h.remade[name]
	if is && !given && h.reacher != nil {
		h.reacher.Forget(name)
		h.remade[name] = true
	}
	return is
}

// reach connects to a host, and finds where the plugs of a step lead there, and what its type is.
func (h *Hosts) reach(step *plan.Step, addr string, host runner.Host) (*plan.Step, error) {
	if h.reacher == nil {
		return nil, errors.New("this program cannot reach hosts")
	}
	facts, err := h.reacher.Reach(h.work, host)
	if err != nil {
		return nil, &QueryError{err}
	}
	var declared []string
	for _, host := range h.known.Manifest.Hosts() {
		declared = append(declared, host.Name)
	}
	if err := h.known.Facts.SetHost(host, facts, declared); err != nil {
		return nil, err
	}
	host.Machine = facts.Machine
	now := *step
	now.Settings.Host = &host
	if now.Mounts, err = h.led(step, addr, host); err != nil {
		return nil, err
	}
	return h.described(now, addr)
}

// led finds where the plugs of a step lead on a host. The host gets all plugs of the
// manifest: it does not follow a link in a plug that types may write to for another plug.
func (h *Hosts) led(step *plan.Step, addr string, host runner.Host) (mounts []runner.Mount, err error) {
	var asked []config.Plug
	for _, m := range step.Mounts {
		if _, _, versioned := artifact.ParseMount(m.Source); !versioned && m.Content == "" { // else its files are fetched
			asked = append(asked, config.Plug{Name: m.Target, Path: m.Source, ReadOnly: true}) // the manifest declares who may write
		}
	}
	found, err := h.reacher.Look(h.work, host, append(asked, plugs.OnHosts(h.known.Manifest.Plugs())...))
	if err != nil {
		return nil, &QueryError{err}
	}
	mounts = slices.Clone(step.Mounts)
	for i, plug := range asked {
		at := slices.IndexFunc(mounts, func(m runner.Mount) bool { return m.Target == plug.Name })
		if mounts[at].Source = found[i].Path; found[i].Err != nil {
			return nil, diag.Errorf("Plug path does not exist on its host",
				"%s gets %s of %s as %s: %s. Create it there, or declare another path.",
				config.Reference(addr), plug.Path, host.Name, plug.Name, found[i].Err)
		}
	}
	return mounts, nil
}
