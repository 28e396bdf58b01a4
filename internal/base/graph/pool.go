package graph

// Pool does what its limits let start, each node in a goroutine of its own. The
// goroutines stay for the nodes after it: who has done one has a stack that is
// large enough. Not safe for concurrent use: it has one owner, as its limits.
type Pool[R any] struct {
	limits  *Limits
	do      func(node string) R
	size    int
	next    chan string
	results chan R
}

// NewPool returns a pool that does nodes in any number at once that the limits allow.
func NewPool[R any](limits *Limits, do func(node string) R) *Pool[R] {
	return &Pool[R]{limits: limits, do: do, next: make(chan string), results: make(chan R)}
}

// Start begins all that may start now, for as long as more is wanted.
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

// Results gives what became of each node that was started. Its owner tells the
// limits that the node has ended, and then starts what may start now.
func (p *Pool[R]) Results() <-chan R { return p.results }

// Close lets the goroutines end; nothing may run any more.
func (p *Pool[R]) Close() { close(p.next) }
