package apply

import (
	"deployster/internal/base/graph"
	"deployster/plan"
	"deployster/plan/order"
)

// limits says what may start: of what is ready, as much as the limit of its
// kind allows. Who needs containers does not hold up who does not.
func limits(p *plan.Plan, o Options, frontier *graph.Frontier) *graph.Limits {
	inWorkers := o.InWorkers
	if o.Confirm != ConfirmPlan {
		inWorkers = 0 // one thing at a time
	}
	return order.Limits(frontier, o.Parallelism, inWorkers, func(node string) bool { return inWorker(p, node) })
}

// inWorker reports whether a worker carries out what a node stands for.
func inWorker(p *plan.Plan, node string) bool {
	addr, what := order.OfNode(node)
	step := p.Resources[addr]
	if what == order.Old {
		step = step.Old
	}
	return step != nil && order.InWorker(&step.Init, &step.Settings)
}
