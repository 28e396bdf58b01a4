package order

import (
	"context"

	"deployster/internal/base/graph"
)

// Visit calls do with each node, in parallel as far as room allows, and with a node only
// after the nodes before it. If do returns false, the nodes that depend on that one are
// skipped. When the context ends, no further node starts.
func Visit(ctx context.Context, before graph.Graph, room Capacity, at func(node string) Location, do func(node string) (ok bool)) {
	type result struct {
		node     string
		ok       bool
		panicked any // a panic of do, which is raised again in the caller's goroutine
	}
	frontier := graph.NewFrontier(before)
	limits := Limits(frontier, room, at)
	pool := graph.NewPool(limits, func(node string) (r result) {
		defer func() { r.node, r.panicked = node, recover() }()
		return result{ok: do(node)}
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
		if limits.Ended(r.node); r.ok {
			frontier.Done(r.node)
		} else {
			frontier.Drop(r.node)
		}
	}
}
