package order

import (
	"context"

	"deployster/internal/base/graph"
)

// Visit does something with nodes in parallel, as much at one time as there is room for,
// with each after those that come before it. When it fails, what depends on that one is
// left out; when the context ends, nothing more begins.
func Visit(ctx context.Context, before graph.Graph, room Room, at func(node string) Where, do func(node string) (ok bool)) {
	type result struct {
		node     string
		ok       bool
		panicked any // it is one of the caller, who knows how to say so
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
