package plan

import (
	"context"
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
	"deployster/plan/order"
	"deployster/plan/subject"
)

// decideAll visits the wanted resources in dependency order, in parallel. One that
// cannot be asked does not keep the others from being asked, so that one run
// shows every problem; those that depend on it are left out.
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
	b.visit(ctx, resources, before, func(r *config.Resource) bool {
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
		b.report(nil, "", diag.Diagnostics{diag.Errorf("Interrupted", "The plan was not finished. Nothing was changed.")})
	}
}

// decideAndTell is decide, and tells what became of it.
func (b *builder) decideAndTell(ctx context.Context, r *config.Resource) *Step {
	step := b.decide(ctx, r)
	if step == nil && b.isOpen(r.Address) {
		return nil // matching begins again
	} else if step == nil {
		b.progress(Failed{r.Address})
	} else {
		b.progress(Decided{r.Address, step.Change})
	}
	return step
}

// visit does something with resources in parallel, with each after those that
// come before it. When it fails, what depends on that one is left out; when the
// context ends, nothing more begins.
func (b *builder) visit(ctx context.Context, resources map[string]*config.Resource, before graph.Graph,
	do func(*config.Resource) (ok bool)) {
	type result struct {
		addr     string
		ok       bool
		panicked any // it is one of the caller, who knows how to say so
	}
	frontier := graph.NewFrontier(before)
	limits := order.Limits(frontier, room(b.options), func(addr string) order.Where { return b.where(resources[addr]) })
	pool := graph.NewPool(limits, func(addr string) (r result) {
		defer func() { r.addr, r.panicked = addr, recover() }()
		return result{ok: do(resources[addr])}
	})
	defer pool.Close()
	for frontier.Open() > 0 {
		pool.Start(func() bool { return ctx.Err() == nil })
		if limits.Running() == 0 {
			break
		}
		r := <-pool.Results()
		if r.panicked != nil {
			panic(r.panicked)
		}
		if limits.Ended(r.addr); r.ok {
			frontier.Done(r.addr)
		} else {
			frontier.Drop(r.addr)
		}
	}
}

// where says where a resource is asked for its state.
func (d *described) where(r *config.Resource) order.Where {
	return order.At(d.types[r.Address], &r.Settings)
}

func room(o Options) order.Room { return order.Room{Resources: o.Parallelism, InWorkers: o.InWorkers} }
