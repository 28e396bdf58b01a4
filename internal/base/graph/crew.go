package graph

// Crew does what its lanes let start, each node in a goroutine of its own. The
// goroutines stay for the nodes after it: who has done one has a stack that is
// large enough. Not safe for concurrent use: it has one owner, as its lanes.
type Crew[R any] struct {
	lanes   *Lanes
	do      func(node string) R
	size    int
	next    chan string
	results chan R
}

// NewCrew makes a crew that does nodes in any number at once that the lanes allow.
func NewCrew[R any](lanes *Lanes, do func(node string) R) *Crew[R] {
	return &Crew[R]{lanes: lanes, do: do, next: make(chan string), results: make(chan R)}
}

// Start begins all that may start now, for as long as more is wanted.
func (c *Crew[R]) Start(more func() bool) {
	for more() {
		node, ok := c.lanes.Take()
		if !ok {
			return
		}
		if c.lanes.Running() > c.size {
			c.size++
			go c.work()
		}
		c.next <- node
	}
}

func (c *Crew[R]) work() {
	for node := range c.next {
		c.results <- c.do(node)
	}
}

// Results gives what became of each node that was started. Its owner tells the
// lanes that the node has ended, and then starts what may start now.
func (c *Crew[R]) Results() <-chan R { return c.results }

// Close lets the goroutines end; nothing may run any more.
func (c *Crew[R]) Close() { close(c.next) }
