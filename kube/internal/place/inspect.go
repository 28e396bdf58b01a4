package place

import (
	"context"
	"errors"
	"fmt"
	"strings"

	authorization "k8s.io/api/authorization/v1"
	core "k8s.io/api/core/v1"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/kube/internal/fence"
	"deployster/kube/internal/podspec"
	"deployster/kube/internal/pool"
)

// right is something that the account of the client may do, and what is lost without it.
type right struct {
	group, resource, sub string
	verbs                []string
	named                func(p *Place) string // the only object that it is for; nil = all
	without              string                // a note; "" = nothing works without it
}

// rights returns the rights that a client needs, and those that give better reasons.
func (p *Place) rights() []right {
	list := []right{
		{resource: "pods", verbs: []string{"create", "get", "list", "watch", "delete"}},
		{resource: "pods", sub: "exec", verbs: []string{"create", "get"}},
		{group: "coordination.k8s.io", resource: "leases", verbs: []string{"create", "get", "update"}},
		{resource: "namespaces", verbs: []string{"get"}, named: func(p *Place) string { return p.o.Cluster.Namespace }},
		{resource: "events", verbs: []string{"list", "watch"},
			without: "events may not be read: mount errors are shown without their reason"},
		{resource: "resourcequotas", verbs: []string{"list"}, without: "quotas may not be read: the number of Pods left is unknown"},
	}
	if p.o.Cluster.NetworkPolicy {
		list = append(list, right{group: "networking.k8s.io", resource: "networkpolicies", verbs: []string{"get"},
			named: func(*Place) string { return podspec.Policy }})
	}
	return list
}

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
	notes, quotas, err := p.checkRights(ctx)
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

// checkRights returns an error that names all rights that are missing and needed, and notes about the others. quotas reports
// whether quotas may be read.
func (p *Place) checkRights(ctx context.Context) (notes []string, quotas bool, err error) {
	var missing []string
	for _, r := range p.rights() {
		lacks, err := p.lacks(ctx, r)
		switch {
		case err != nil:
			return nil, false, unreachable(err)
		case len(lacks) > 0 && r.without != "":
			notes = append(notes, r.without)
		case len(lacks) > 0:
			missing = append(missing, fmt.Sprintf("%s of %s", strings.Join(lacks, ", "), r.name()))
		case r.resource == "resourcequotas":
			quotas = true
		}
	}
	if len(missing) > 0 {
		return nil, false, fmt.Errorf("the account lacks rights in the namespace %s: %s", p.o.Cluster.Namespace,
			strings.Join(missing, "; "))
	}
	return append([]string{"Pods may be created and exec'd"}, notes...), quotas, nil
}

func (r right) name() string {
	if r.sub != "" {
		return r.resource + "/" + r.sub
	}
	return r.resource
}

// lacks returns the verbs of a right that the account lacks.
func (p *Place) lacks(ctx context.Context, r right) (verbs []string, err error) {
	for _, verb := range r.verbs {
		a := authorization.ResourceAttributes{Verb: verb, Group: r.group, Resource: r.resource, Subresource: r.sub}
		if r.named != nil {
			a.Name = r.named(p)
		}
		may, _, err := p.o.API.May(ctx, a)
		if err != nil {
			return nil, err
		}
		if !may {
			verbs = append(verbs, verb)
		}
	}
	return verbs, nil
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
