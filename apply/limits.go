package apply

import (
	"deployster/apply/turns"
	"deployster/internal/base/graph"
	"deployster/plan"
	"deployster/plan/order"
)

// limits returns what may start: of the ready nodes, as many as the limit for their kind
// and place allows. Nodes that need containers do not delay those that do not.
func limits(p *plan.Plan, o Options, frontier *graph.Frontier) *graph.Limits {
	return order.Limits(frontier, room(o), func(node string) order.Location {
		where := turns.Where(p, node)
		where.Group = o.Waves.Group(where.Host)
		return where
	})
}

// room is how much is worked on at a time.
func room(o Options) order.Capacity {
	room := order.Capacity{Resources: o.Parallelism, InWorkers: o.InWorkers, Hosts: o.Hosts}
	if o.Waves != nil {
		room.Hosts = o.Waves.AtOnce
	}
	if o.Confirm != ConfirmPlan {
		room.InWorkers, room.Hosts = 0, 1 // one node at a time
	}
	return room
}
