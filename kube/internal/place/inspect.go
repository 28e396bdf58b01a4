package place

import (
	"context"
	"errors"
	"fmt"
	"strings"

	core "k8s.io/api/core/v1"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/kube/internal/fence"
	"deployster/kube/internal/podspec"
	"deployster/kube/internal/pool"
)

// Inspect implements remote.Inspector.
func (p *Place) Inspect(ctx context.Context, i remote.Inspection) (found remote.Found, err error) {
	if i.Lineage != "" {
		found.Ended, found.Pruned, err = p.prune(ctx, i)
		return found, err
	}
	version, err := p.o.API.Server(ctx)
	if err != nil {
		return found, unreachable(err)
	}
	ns, err := p.o.API.GetNamespace(ctx)
	if err != nil {
		return found, unreachable(err)
	}
	found.Facts = append(found.Facts, "kubernetes "+version)
	notes, quotas, err := p.checkRights(ctx, p.rights())
	if err != nil {
		return found, err
	}
	found.Notes = notes
	if i.Start {
		if err := p.startAgent(ctx); err != nil {
			return found, err
		}
		found.Facts = append(found.Facts, remote.AgentVersion)
	}
	if level := ns.Labels[enforce]; level != "" {
		found.Facts = append(found.Facts, fmt.Sprintf("Pod Security %s (enforced)", level))
	}
	if quotas {
		left, err := p.left(ctx)
		if err != nil {
			return found, err
		}
		found.Facts = append(found.Facts, left...)
	}
	found.Ended, found.Pruned, err = p.prune(ctx, i)
	return found, err
}

// startAgent starts a Pod of the agent's image, connects to its agent, and deletes it.
func (p *Place) startAgent(ctx context.Context) error {
	name, digest, pinned := strings.Cut(p.o.Cluster.Agent, "@")
	if !pinned {
		return fmt.Errorf("the agent %s has no digest", p.o.Cluster.Agent)
	}
	o := podspec.Order{Cluster: p.o.Cluster, Host: p.o.Host, Image: runner.Shipment{Name: name, Digest: digest}, Name: randomPod(ownPrefix),
		Settings: runner.Settings{Capabilities: runner.Capabilities{Drop: []string{runner.AllCapabilities}}, User: "65532:65532"},
		For:      "host check", Lineage: p.lineage, Run: p.run}
	o.Cluster.Registries = nil // the block names the image as nodes pull it
	m, _, err := p.pool.Take(ctx, "", o.Name, pool.Own, func(*pool.Member) {})
	if err != nil {
		return err
	}
	defer p.pool.Leave(m, pool.Own)
	p.begin(ctx, m, o, pool.Own)
	if err := p.started(ctx, m, &reporter{}); err != nil {
		return err
	}
	_, err = p.agents.Welcome(ctx, at(m.Name))
	var refused *remote.RefusedError
	if errors.As(err, &refused) {
		return fmt.Errorf("the agent %s cannot be used: %w", p.o.Cluster.Agent, refused)
	}
	return err
}

// left describes how many Pods each quota leaves.
func (p *Place) left(ctx context.Context) (facts []string, err error) {
	quotas, err := p.o.API.Quotas(ctx)
	if err != nil {
		return nil, unreachable(err)
	}
	for _, q := range quotas {
		hard, is := q.Spec.Hard[core.ResourcePods]
		if !is {
			continue
		}
		used := q.Status.Used[core.ResourcePods]
		facts = append(facts, fmt.Sprintf("%d of %d Pods left by quota %q", max(hard.Value()-used.Value(), 0), hard.Value(), q.Name))
	}
	return facts, nil
}

// prune counts the Pods of earlier commands that have ended and hold no outcome that a state waits for, and deletes them if
// that is requested.
func (p *Place) prune(ctx context.Context, i remote.Inspection) (ended, pruned int, err error) {
	selector := podspec.LabelManaged + "=" + podspec.Managed
	lineage := p.lineage
	if i.Lineage != "" {
		lineage = hash(i.Lineage)
	}
	if !i.All && lineage != "" {
		selector += "," + podspec.LabelLineage + "=" + lineage
	}
	list, err := p.o.API.ListPods(ctx, selector)
	if err != nil {
		return 0, 0, unreachable(err)
	}
	open := map[string][]string{} // by lineage
	for _, pod := range list.Items {
		if !p.over(&pod, nil) {
			continue
		}
		lineage := pod.Labels[podspec.LabelLineage]
		if _, known := open[lineage]; !known && lineage != "" {
			if open[lineage], err = fence.OpenIn(ctx, p.o.API, leaseOf(lineage)); err != nil {
				return ended, pruned, err
			}
		}
		if !p.over(&pod, open[lineage]) {
			continue
		}
		if ended++; !i.Prune {
			continue
		}
		now := int64(0)
		if err := p.o.API.DeletePod(ctx, pod.Name, string(pod.UID), &now); err != nil {
			return ended, pruned, unreachable(err)
		}
		pruned++
	}
	return ended, pruned, nil
}
