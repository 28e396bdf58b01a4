package place

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	core "k8s.io/api/core/v1"

	"deployster/internal/runtime/runner"
	"deployster/kube/internal/pods"
	"deployster/kube/internal/podspec"
	"deployster/kube/internal/podstatus"
)

// Adopt implements runner.Adopter.
func (p *Place) Adopt(ctx context.Context, id string, w runner.Watch) (runner.Outcome, error) {
	name := p.actionPod(id)
	seen, err := p.pods.Read(ctx, name)
	if err != nil {
		return runner.Outcome{}, unreachable(err)
	}
	if seen.Pod != nil {
		return p.adoptIn(ctx, id, name, w)
	}
	if p.opened(name) {
		return runner.Outcome{}, vanished(name)
	}
	return p.search(ctx, id, w)
}

// vanished returns the error for a Pod object that vanished before the end of its container was seen.
func vanished(name string) error {
	return &unavailable{text: fmt.Sprintf("the Pod %s was removed without a report of its end, so the action may still run", name)}
}

// opened reports whether a Pod was about to be created, and nobody has recorded its end.
func (p *Place) opened(name string) bool { return p.fence != nil && p.fence.IsOpen(name) }

// adoptIn returns the outcome of an action that has a Pod of its own.
func (p *Place) adoptIn(ctx context.Context, id, name string, w runner.Watch) (out runner.Outcome, err error) {
	for {
		var running bool
		err := p.pods.Wait(ctx, name, func(s pods.Seen) (bool, error) {
			end := podstatus.EndOf(s.Pod)
			var known bool
			if out, known = end.Fate(id); known {
				return true, nil
			}
			if s.Gone {
				return false, vanished(name)
			}
			running = end.Begun
			return running, nil
		})
		if err != nil || !running || out.Fate != "" {
			return out, err
		}
		out, err := p.agents.AdopterFor(hostOf(name)).Adopt(ctx, id, w)
		switch {
		case err == nil && out.NoTrace: // the agent is as old as the container, and would know
			return runner.Outcome{Fate: runner.NotBegun}, nil
		case err == nil || ctx.Err() != nil:
			return out, err
		}
		if refused, is := refusal(err); is {
			return out, refused
		}
		seen, failed := p.pods.Read(ctx, name)
		if failed != nil {
			return out, unreachable(failed)
		}
		if _, known := podstatus.EndOf(seen.Pod).Fate(id); known || seen.Gone {
			continue // the next query finds it
		}
		return out, &unavailable{text: whyLost(name, "the action", seen, err) + ", so the action may still run"}
	}
}

func hostOf(pod string) *runner.Host {
	h := at(pod)
	return &h
}

// search queries each Pod of the state that runs or ran several actions.
func (p *Place) search(ctx context.Context, id string, w runner.Watch) (out runner.Outcome, err error) {
	none := runner.Outcome{Fate: runner.Unknown, NoTrace: true, Why: "the cluster has no record of it"}
	err = p.groups(ctx, func(pod *core.Pod) (bool, error) {
		end := podstatus.EndOf(pod)
		if end.Over {
			var known bool
			out, known = end.Fate(id)
			return known && out.Fate == runner.Exited || known && out.Fate == runner.Unknown && end.Names(id), nil
		}
		if !end.Begun {
			return false, nil
		}
		var failed error
		out, failed = p.agents.AdopterFor(hostOf(pod.Name)).Adopt(ctx, id, w)
		return failed == nil && !out.NoTrace, failed
	})
	if err != nil || out.Fate != "" && !out.NoTrace {
		return out, err
	}
	return none, nil
}

// groups calls do for each Pod of the state that runs several invocations, until do is done. It returns an error if one of
// them vanished: what ran in it may still run.
func (p *Place) groups(ctx context.Context, do func(*core.Pod) (done bool, err error)) error {
	if p.lineage == "" {
		return nil
	}
	list, err := p.o.API.ListPods(ctx, podspec.LabelLineage+"="+p.lineage)
	if err != nil {
		return unreachable(err)
	}
	there := map[string]bool{}
	for i := range list.Items {
		pod := &list.Items[i]
		there[pod.Name] = true
		if !strings.HasPrefix(pod.Name, groupPrefix) {
			continue
		}
		p.pods.Put(pod)
		if done, err := do(pod); done {
			return nil
		} else if err != nil {
			return &unavailable{text: fmt.Sprintf("the Pod %s, which may run it, cannot be reached: %s", pod.Name, cause(err))}
		}
	}
	if p.fence == nil {
		return nil
	}
	for _, name := range p.fence.Opened() {
		if strings.HasPrefix(name, groupPrefix) && !there[name] {
			return vanished(name)
		}
	}
	return nil
}

// Running implements remote.Place.
func (p *Place) Running(ctx context.Context, id string) (runs bool, err error) {
	name := p.actionPod(id)
	seen, err := p.pods.Read(ctx, name)
	if err != nil {
		return false, unreachable(err)
	}
	if seen.Pod == nil {
		if p.opened(name) {
			return false, vanished(name)
		}
		err := p.groups(ctx, func(pod *core.Pod) (bool, error) {
			if end := podstatus.EndOf(pod); end.Over || !end.Begun {
				return false, nil
			}
			var failed error
			runs, failed = p.agents.AdopterFor(hostOf(pod.Name)).Running(ctx, id)
			return runs, failed
		})
		return runs, err
	}
	end := podstatus.EndOf(seen.Pod)
	if _, known := end.Fate(id); known || !end.Begun && !seen.Gone {
		return false, nil
	}
	if seen.Gone {
		return false, vanished(name)
	}
	if runs, err = p.agents.AdopterFor(hostOf(name)).Running(ctx, id); err != nil {
		return false, &unavailable{text: cause(err)}
	}
	return runs, nil
}

// discardLimit is how long the deletion of an action's Pod may take.
const discardLimit = time.Minute

// Discard implements runner.Adopter. Afterwards the name of the action's Pod is free.
func (p *Place) Discard(ctx context.Context, id string) error {
	name := p.actionPod(id)
	seen, err := p.pods.Read(ctx, name)
	if err != nil {
		return unreachable(err)
	}
	if seen.Pod == nil || seen.Gone {
		err := p.settle(ctx, name)
		p.forget(name)
		return errors.Join(err, p.discardInGroups(ctx, id))
	}
	if err := p.settle(ctx, name); err != nil {
		return err
	}
	now := int64(0)
	if err := p.o.API.DeletePod(ctx, name, string(seen.Pod.UID), &now); err != nil {
		return unreachable(err)
	}
	within, cancel := context.WithTimeout(ctx, discardLimit)
	defer cancel()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		there, err := p.o.API.GetPod(within, name)
		if err == nil && (there == nil || there.UID != seen.Pod.UID) {
			p.forget(name)
			return nil
		}
		select {
		case <-within.Done():
			return &unavailable{text: fmt.Sprintf("the Pod %s does not end", name)}
		case <-time.After(pause):
		}
	}
}

// discardInGroups removes the traces of an action that had no Pod of its own.
func (p *Place) discardInGroups(ctx context.Context, id string) error {
	if p.fence == nil {
		return nil
	}
	var errs []error
	err := p.groups(ctx, func(pod *core.Pod) (bool, error) {
		if end := podstatus.EndOf(pod); !end.Over && end.Begun {
			errs = append(errs, p.agents.AdopterFor(hostOf(pod.Name)).Discard(ctx, id))
		}
		return false, nil
	})
	var gone *unavailable
	if errors.As(err, &gone) {
		err = nil // its traces are gone with it
	}
	return errors.Join(slices.Concat(errs, []error{err})...)
}
