package place

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"deployster/internal/runtime/runner"
	"deployster/kube/internal/podspec"
	"deployster/kube/internal/pool"
)

// order returns the Pod that an invocation needs, how it uses it, and the group that it belongs to.
func (p *Place) order(ctx context.Context, s runner.Spec) (o podspec.Order, u pool.Use, group string, err error) {
	image, known := p.images.find(s.Digest)
	switch {
	case !known:
		return o, u, "", fmt.Errorf("%s: %w", s.Digest, runner.ErrNoImage)
	case len(s.Volumes) > 0 || s.Answer != nil:
		return o, u, "", impossible(errors.New("a Pod cannot have volumes for a single invocation"))
	case s.Settings.Network == runner.NoNetwork && p.o.Cluster.NetworkPolicy:
		if err := p.hasPolicy(ctx); err != nil {
			return o, u, "", err
		}
	}
	settings := s.Settings
	settings.Host = nil
	o = podspec.Order{Cluster: p.o.Cluster, Host: p.o.Host, Image: image, Settings: settings, Mounts: s.Mounts,
		Files: p.filesOf(s.Mounts), Acts: s.Kind == runner.Action, For: s.Name,
		Lineage: p.lineage, Run: p.run, Epoch: p.hello.Epoch}
	sharers := ""
	switch {
	case s.Worker != nil && settings.Workers != runner.NoWorkers:
		u = pool.Request
	case shares(s):
		u, sharers = pool.Process, s.Sharers()
	case s.Kind == runner.Action && s.ID != "":
		o.Name = p.actionPod(s.ID)
		return o, pool.Own, "", nil
	default:
		o.Name = randomPod(ownPrefix)
		return o, pool.Own, "", nil
	}
	o.Acts, o.Name = p.fence != nil, randomPod(groupPrefix)
	key, err := json.Marshal(struct {
		Digest   string
		Mounts   []runner.Mount
		Settings runner.Settings
		Sharers  string // "" = all who need the same Pod, and workers
	}{s.Digest, s.Mounts, settings, sharers})
	return o, u, hash(string(key)), err
}

// shares reports whether an invocation runs in a Pod that others use too, one at a time. An action does if its type allows that,
// and if the next client can find it by its ID.
func shares(s runner.Spec) bool {
	return s.Reuse && s.Settings.Workers != runner.NoWorkers && (s.Kind == runner.Query || s.ReuseActions && s.ID != "" && s.Guard == "")
}

// hasPolicy returns an error if the NetworkPolicy for Pods without a network is missing.
func (p *Place) hasPolicy(ctx context.Context) error {
	p.mu.Lock()
	there := p.policy
	p.mu.Unlock()
	if there {
		return nil
	}
	there, err := p.o.API.HasPolicy(ctx, podspec.Policy)
	switch {
	case err != nil:
		err = unreachable(err)
	case !there:
		err = impossible(fmt.Errorf("the namespace has no NetworkPolicy %s, which keeps Pods from the network", podspec.Policy))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.policy = there
	return err
}
