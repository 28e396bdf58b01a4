package apply

import (
	"deployster/internal/graph"
	"deployster/internal/invoke"
	"deployster/plan"
)

// The kinds of work that have bounds of their own.
const (
	inContainers = iota // every invocation starts a container
	inWorkers           // workers take many at one time
	kinds
)

// inflight says what may start: of what is ready, as much as the bound of its
// kind allows. Who needs containers does not hold up who does not.
type inflight struct {
	plan     *plan.Plan
	frontier *graph.Frontier
	ready    [kinds][]string // taken from the frontier, in its order
	running  [kinds]int
	most     [kinds]int // 0 in workers = they have no bound of their own
}

func (r *run) inflight(frontier *graph.Frontier) *inflight {
	f := &inflight{plan: r.plan, frontier: frontier, most: [kinds]int{max(1, r.options.Parallelism), r.options.InWorkers}}
	if r.options.Confirm != ConfirmPlan {
		f.most[inWorkers] = 0 // one thing at a time
	}
	return f
}

// take gives the next node that may start, if there is one.
func (f *inflight) take() (node string, ok bool) {
	if f.most[inWorkers] == 0 {
		if f.running[inContainers] >= f.most[inContainers] {
			return "", false
		}
		if node, ok = f.frontier.Take(); ok {
			f.running[inContainers]++
		}
		return node, ok
	}
	for _, node := range f.frontier.TakeAll() {
		kind := f.kind(node)
		f.ready[kind] = append(f.ready[kind], node)
	}
	for kind, list := range f.ready {
		if len(list) > 0 && f.running[kind] < f.most[kind] {
			f.running[kind]++
			f.ready[kind] = list[1:]
			return list[0], true
		}
	}
	return "", false
}

// done is called when one has ended.
func (f *inflight) done(node string) { f.running[f.kind(node)]-- }

// open is how many have not ended.
func (f *inflight) open() (n int) {
	for _, running := range f.running {
		n += running
	}
	return n
}

func (f *inflight) kind(node string) int {
	if f.most[inWorkers] == 0 {
		return inContainers
	}
	addr, old := plan.OfNode(node)
	step := f.plan.Resources[addr]
	if old {
		step = step.Old
	}
	if step == nil || step.Init.Worker == nil || step.Init.StateAction.Entrypoint != "" || step.Settings.Workers == invoke.NoWorkers {
		return inContainers
	}
	return inWorkers
}
