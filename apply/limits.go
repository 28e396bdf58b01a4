package apply

import (
	"deployster/internal/base/graph"
	"deployster/plan"
	"deployster/plan/order"
)

// limits says what may start: of what is ready, as much as the limit of its
// kind allows where it is. Who needs containers does not hold up who does not.
func limits(p *plan.Plan, o Options, frontier *graph.Frontier) *graph.Limits {
	room := order.Room{Resources: o.Parallelism, InWorkers: o.InWorkers, Hosts: o.Hosts}
	if o.Confirm != ConfirmPlan {
		room.InWorkers, room.Hosts = 0, 1 // one thing at a time
	}
	return order.Limits(frontier, room, func(node string) order.Where { return where(p, node) })
}

// where says where what a node stands for is carried out.
func where(p *plan.Plan, node string) order.Where {
	addr, what := order.OfNode(node)
	step := p.Resources[addr]
	if step != nil && what == order.Old {
		step = step.Old
	}
	if step == nil || what == order.Wait {
		return order.Where{Nowhere: true}
	}
	return order.At(&step.Init, &step.Settings)
}
