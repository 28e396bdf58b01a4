package graph

// Lanes say what of a frontier may start now, when there are several kinds of
// nodes and each has a bound of its own: who waits in one lane holds up nobody
// in another. Not safe for concurrent use: it has one owner, as the frontier.
type Lanes struct {
	frontier *Frontier
	of       func(node string) int
	ready    []ready // taken from the frontier, by lane
	running  []int
	most     []int
}

// NewLanes makes a lane of each bound; of says in which of them a node runs, and
// says the same of it each time.
func NewLanes(f *Frontier, of func(node string) int, most ...int) *Lanes {
	return &Lanes{frontier: f, of: of, ready: make([]ready, len(most)), running: make([]int, len(most)), most: most}
}

// Take gives a node that may start, the first one by name of its lane, if there
// is one.
func (l *Lanes) Take() (node string, ok bool) {
	for _, node := range l.frontier.TakeAll() {
		l.ready[l.of(node)].put(node)
	}
	for i := range l.ready {
		if len(l.ready[i]) > 0 && l.running[i] < l.most[i] {
			l.running[i]++
			return l.ready[i].take(), true
		}
	}
	return "", false
}

// Bound gives the lane of a node another bound. What runs beyond a smaller one
// goes on.
func (l *Lanes) Bound(node string, most int) { l.most[l.of(node)] = most }

// Ended is called when a node that was taken does not run any more, beside Done
// or Drop of the frontier.
func (l *Lanes) Ended(node string) { l.running[l.of(node)]-- }

// Running is how many have not ended.
func (l *Lanes) Running() (n int) {
	for _, running := range l.running {
		n += running
	}
	return n
}
