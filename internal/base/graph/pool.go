package graph

// Pool runs the nodes that its limits let start, each in a goroutine. The goroutines are
// used again for later nodes, since their stacks are already large enough. Not safe for
// concurrent use: it has one owner, like its limits.
type Pool[R any] struct {
	limits  *Limits
	do      func(node string) R
	size    int
	next    chan string
	results chan R
}

// NewPool returns a pool that runs do for as many nodes at once as the limits allow.
func NewPool[R any](limits *Limits, do func(node string) R) *Pool[R] {
	return &Pool[R]{limits: limits, do: do, next: make(chan string), results: make(chan R)}
}

// Start starts all nodes that may start now, as long as more returns true.
func (p *Pool[R]) Start(more func() bool) {
	for more() {
		node, ok := p.limits.Take()
		if !ok {
			return
		}
		if p.limits.Running() > p.size {
			p.size++
			go p.work()
		}
		p.next <- node
	}
}

func (p *Pool[R]) work() {
	for node := range p.next {
		p.results <- p.do(node)
	}
}

// Results returns the channel with the result of each node that was started. The owner
// then calls Ended of the limits, and starts the nodes that may start now.
func (p *Pool[R]) Results() <-chan R { return p.results }

// Close ends the goroutines; no node may be running any more.
func (p *Pool[R]) Close() { close(p.next) }
