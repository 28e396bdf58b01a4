package graph

// Cycles numbers the nodes so that two have the same number exactly when each precedes
// the other, directly or indirectly: they are in a cycle.
func (g Graph) Cycles() map[string]int {
	c := cycles{graph: g, index: make(map[string]int, len(g)), low: make(map[string]int, len(g)), number: make(map[string]int, len(g))}
	for n := range g {
		if c.index[n] == 0 {
			c.walk(n)
		}
	}
	return c.number
}

// cycles finds cycles by Tarjan's algorithm, with an explicit stack: graphs may be deep.
type cycles struct {
	graph  Graph
	index  map[string]int // when a node was reached; 0 = not yet
	low    map[string]int // the earliest node that it reaches
	number map[string]int // of the nodes that are done
	stack  []string       // the nodes that are not done
	count  int
}

// visit is a node on the current path, and its next edge.
type visit struct {
	node string
	next int
}

func (c *cycles) enter(n string) visit {
	c.index[n] = len(c.index) + 1
	c.low[n] = c.index[n]
	c.stack = append(c.stack, n)
	return visit{node: n}
}

func (c *cycles) walk(from string) {
	way := []visit{c.enter(from)}
	for len(way) > 0 {
		v := &way[len(way)-1]
		if edges := c.graph[v.node]; v.next < len(edges) {
			to := edges[v.next]
			v.next++
			if c.index[to] == 0 {
				way = append(way, c.enter(to))
			} else if _, through := c.number[to]; !through {
				c.low[v.node] = min(c.low[v.node], c.index[to])
			}
			continue
		}
		way = way[:len(way)-1]
		if len(way) > 0 {
			above := way[len(way)-1].node
			c.low[above] = min(c.low[above], c.low[v.node])
		}
		if c.low[v.node] == c.index[v.node] {
			c.close(v.node)
		}
	}
}

// close numbers the nodes of the cycle that was entered at the node first.
func (c *cycles) close(first string) {
	for {
		n := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		c.number[n] = c.count
		if n == first {
			break
		}
	}
	c.count++
}
