package apply

import (
	"deployster/internal/base/graph"
	"deployster/plan"
)

// limits says what may start: of what is ready, as much as the limit of its
// kind allows. Who needs containers does not hold up who does not.
func (r *run) limits(frontier *graph.Frontier) *graph.Limits {
	inWorkers := r.options.InWorkers
	if r.options.Confirm != ConfirmPlan {
		inWorkers = 0 // one thing at a time
	}
	return plan.Limits(frontier, r.options.Parallelism, inWorkers, r.inWorker)
}

// inWorker reports whether a worker carries out what a node stands for.
func (r *run) inWorker(node string) bool {
	addr, old := plan.OfNode(node)
	step := r.plan.Resources[addr]
	if old {
		step = step.Old
	}
	return step != nil && plan.InWorker(&step.Init, &step.Settings)
}
