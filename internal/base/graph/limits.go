package graph

// Limits say how many nodes of each kind may run at one time: what of a frontier
// may start now. A node that waits for room among its own kind holds up no other
// kind. Not safe for concurrent use: it has one owner, as the frontier.
type Limits struct {
	frontier *Frontier
	kindOf   func(node string) int
	ready    []ready // taken from the frontier, by kind
	running  []int
	most     []int
}

// NewLimits returns one limit for each kind, in their order; kindOf gives the
// index of a node's kind, and the same one each time.
func NewLimits(f *Frontier, kindOf func(node string) int, most ...int) *Limits {
	return &Limits{frontier: f, kindOf: kindOf, ready: make([]ready, len(most)), running: make([]int, len(most)), most: most}
}

// Take gives a node that may start, the first one by name of its kind, if there
// is one.
func (l *Limits) Take() (node string, ok bool) {
	for _, node := range l.frontier.TakeAll() {
		l.ready[l.kindOf(node)].put(node)
	}
	for i := range l.ready {
		if len(l.ready[i]) > 0 && l.running[i] < l.most[i] {
			l.running[i]++
			return l.ready[i].take(), true
		}
	}
	return "", false
}

// Ended is called when a node that was taken does not run any more, beside Done
// or Drop of the frontier.
func (l *Limits) Ended(node string) { l.running[l.kindOf(node)]-- }

// Running is how many have not ended.
func (l *Limits) Running() (n int) {
	for _, running := range l.running {
		n += running
	}
	return n
}
