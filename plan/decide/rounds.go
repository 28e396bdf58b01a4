package decide

import (
	"context"
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
	"deployster/plan/change"
	"deployster/plan/identity"
	"deployster/plan/query"
	"deployster/plan/subject"
)

// All decides about all resources and entries, each resource with the entry of its own object.
// The identity of a resource may become known only when it is decided: then matching starts
// again, and earlier decisions are kept where they still hold. d are the decisions of Expand.
func All(ctx context.Context, x *query.Session, d *Decisions) *Decisions {
	d = rounds(ctx, x, identity.Gather(x), d)
	d.removeAll(ctx)
	return d
}

// After decides again about resources that are put after others only because of all answers, if one of these
// acts, and about what depends on them: each is queried early now, as its object may change with what comes first.
func (d *Decisions) After(ctx context.Context, edges map[string][]string) *Decisions {
	var again []string
	for addr, list := range edges {
		if slices.ContainsFunc(list, func(to string) bool { return d.step(to) != nil && d.acts(to) }) {
			again = append(again, addr)
		}
	}
	if len(again) == 0 {
		return d
	}
	next := d.clone(d.Matched)
	reached := next.undecide(again)
	for addr := range reached {
		delete(next.failed, addr)
	}
	d.session.Findings.Withdraw(reached)
	next = rounds(ctx, d.session, d.Matched.Facts, next)
	next.removeAll(ctx)
	return next
}

func rounds(ctx context.Context, x *query.Session, facts *identity.Facts, d *Decisions) *Decisions {
	for {
		errors := x.Findings.Errors()
		m, duplicates := facts.Match(x)
		if len(duplicates) > 0 {
			for _, addr := range duplicates {
				d.failed[addr] = true
			}
			return d
		}
		if d = d.under(m); x.Findings.Errors() > errors {
			return d
		}
		if x.Types.Query(ctx, x.Subject.Wanted); x.Findings.Errors() > errors {
			return d
		}
		if d.decideAll(ctx, x.Subject.Wanted); ctx.Err() != nil {
			return d
		}
		if !facts.Settled() {
			continue
		}
		if d.removeAll(ctx); ctx.Err() != nil || x.Findings.Failed() {
			return d
		}
		doubted := m.Doubt(d.steps)
		if len(doubted) == 0 {
			return d
		}
		d.undecide(doubted)
	}
}

// decideAll decides the selected resources in dependency order, in parallel. A resource
// that fails does not stop the others, so that one run shows every problem; only those
// that depend on it are skipped.
func (d *Decisions) decideAll(ctx context.Context, wanted func(addr string) bool) {
	s := d.session.Subject
	size := len(s.Manifest.Resources())
	resources, before := make(map[string]*config.Resource, size), make(graph.Graph, size)
	for _, r := range s.Manifest.Resources() {
		if d.steps[r.Address] != nil || !wanted(r.Address) || d.failed[r.Address] || d.Unexpanded && r.Waits {
			continue
		}
		resources[r.Address] = r
		before[r.Address] = slices.DeleteFunc(subject.Predecessors(r), func(addr string) bool { return d.steps[addr] != nil })
	}
	d.session.Visit(ctx, resources, before, func(r *config.Resource) bool {
		step, pin := d.decide(ctx, r), ""
		if !d.session.Options.OnlyShown {
			pin = s.Recorded.Pin(r.Address)
		}
		open := step == nil && d.Matched.Facts.Open(r.Address) // it is matched again
		d.mu.Lock()
		defer d.mu.Unlock()
		if step == nil {
			d.failed[r.Address] = !open
			return false
		}
		d.steps[r.Address], d.pins[r.Address] = step, pin
		return true
	})
	if ctx.Err() != nil {
		d.session.Findings.Report(nil, "", diag.Diagnostics{diag.Errorf("Interrupted", "The plan was not finished. Nothing was changed.")})
	}
}

// decide decides what to do with one resource, and sends an event with the result.
func (d *Decisions) decide(ctx context.Context, r *config.Resource) *change.Step {
	step := d.decision(r).decide(ctx)
	switch {
	case step != nil:
		d.session.Progress(query.Decided{Address: r.Address, Change: step.Shown()})
	case !d.Matched.Facts.Open(r.Address):
		d.session.Progress(query.Failed{Address: r.Address})
	}
	return step
}
