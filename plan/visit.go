package plan

import (
	"context"
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
	"deployster/plan/subject"
)

// decideAll decides the selected resources in dependency order, in parallel. A resource
// that fails does not stop the others, so that one run shows every problem; only those
// that depend on it are skipped.
func (b *builder) decideAll(ctx context.Context, wanted func(addr string) bool) {
	size := len(b.Manifest.Resources())
	resources, before := make(map[string]*config.Resource, size), make(graph.Graph, size)
	for _, r := range b.Manifest.Resources() {
		if b.steps[r.Address] != nil || !wanted(r.Address) || b.failed[r.Address] || b.expandFailed && r.Waits {
			continue
		}
		resources[r.Address] = r
		before[r.Address] = slices.DeleteFunc(subject.Predecessors(r), func(addr string) bool { return b.steps[addr] != nil })
	}
	b.session.Visit(ctx, resources, before, func(r *config.Resource) bool {
		step, pin := b.decideAndTell(ctx, r), b.Recorded.Pin(r.Address)
		b.decided.mu.Lock()
		defer b.decided.mu.Unlock()
		if step == nil {
			b.failed[r.Address] = !b.identified.open[r.Address]
			return false
		}
		b.steps[r.Address], b.pins[r.Address] = step, pin
		return true
	})
	if ctx.Err() != nil {
		b.Report(nil, "", diag.Diagnostics{diag.Errorf("Interrupted", "The plan was not finished. Nothing was changed.")})
	}
}

// decideAndTell calls decide and sends an event with the result.
func (b *builder) decideAndTell(ctx context.Context, r *config.Resource) *Step {
	step := b.decide(ctx, r)
	if step == nil && b.isOpen(r.Address) {
		return nil // matching starts again
	} else if step == nil {
		b.session.Progress(Failed{Address: r.Address})
	} else {
		b.session.Progress(Decided{Address: r.Address, Change: step.Shown()})
	}
	return step
}
