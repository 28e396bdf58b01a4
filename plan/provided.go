package plan

import (
	"context"
	"maps"
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/autoedge"
	"deployster/plan/decide"
	"deployster/plan/query"
)

// addProvided adds the edges that follow from what resources bring, as all have answered, where the manifest
// has auto_edges: they are made once, and only order resources. What comes after something that acts is decided again.
func addProvided(ctx context.Context, x *query.Session, d *decide.Decisions) *decide.Decisions {
	s := x.Subject
	if !s.Manifest.Settings().AutoEdges || ctx.Err() != nil {
		return d
	}
	matters := func(step *Step) bool { return len(step.Answer().Provides) > 0 || unanswered(step) }
	if !slices.ContainsFunc(slices.Collect(maps.Values(d.Steps())), matters) {
		return d
	}
	nodes, before := autoNodes(x)
	nodes = slices.DeleteFunc(nodes, func(n autoedge.Node) bool { return !s.Wanted(n.Address) })
	for i := range nodes {
		known(&nodes[i], x, d)
	}
	found := autoedge.FindProvided(nodes, before)
	for addr, list := range found.Cycles {
		for _, to := range list {
			x.Findings.Report(s.Manifest.Resource(addr), "", diag.Diagnostics{diag.Warningf("An automatic edge would close a cycle",
				"%s brings this resource or what it needs, and waits for it. So this one does not wait for %s: if it does not matter "+
					"which comes first, nothing is to be done.", config.Reference(to), config.Reference(to))})
		}
	}
	if len(found.Edges) > 0 {
		next, diags := config.WithAutoEdges(s.Manifest, found.Edges, config.FromProvides)
		if x.Findings.Report(nil, "", diags); diags.HasErrors() {
			return d
		}
		s.Manifest = config.Converting(next, x.Types.TypeOf)
		d = d.After(ctx, found.Edges)
	}
	steps := d.Steps()
	for addr, list := range found.Brought {
		if step := steps[addr]; step != nil && step.Change() == Create {
			step.BroughtBy = slices.DeleteFunc(list, func(to string) bool { return steps[to] == nil || steps[to].Change() != Create })
			slices.Sort(step.BroughtBy)
		}
	}
	return d
}

// known puts what has become known of a resource into its node.
func known(n *autoedge.Node, x *query.Session, d *decide.Decisions) {
	steps := d.Steps()
	if step := steps[n.Address]; step != nil {
		n.Config, n.Provides = step.Config, step.Answer().Provides
	}
	for _, addr := range x.Subject.Prior.Resources[n.Address].Dependencies {
		to := steps[addr]
		if to != nil && x.Subject.Manifest.Resource(addr) != nil && unanswered(to) {
			n.Kept = append(n.Kept, addr)
		}
	}
}

// unanswered reports whether the image of a declared resource was not queried for what it brings.
func unanswered(step *Step) bool { return step.Unrefreshed() || step.Change() == Replace }
