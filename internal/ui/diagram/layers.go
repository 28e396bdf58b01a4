package diagram

import (
	"math"
	"slices"
)

// spot is one place in the layout: a node, or a bend of an edge that passes a
// layer.
type spot struct {
	node   int // into Nodes; -1 = a bend
	column int // the group's
	layer  int
	// at is the middle across the layers; size is the extent, across and along.
	at           float64
	across, long float64
	before       []int // spots in the layer before that are connected
	after        []int
}

// layout is a layered drawing: what comes first in the first layer, and every
// edge from one layer to the one before.
type layout struct {
	d      Diagram
	spots  []spot
	layers [][]int  // spots, in their order
	labels []string // of the columns
	routes [][]int  // the spots of each edge, from From to To
}

// bendsPerNode bounds the bends of all edges together. Each needs room; where
// there would be more, the longest edges are drawn straight, behind the boxes.
const bendsPerNode = 3

// newLayout puts the nodes of a tidy diagram into layers.
func newLayout(d Diagram, size func(Node) (across, long float64)) *layout {
	l := &layout{d: d}
	index := map[string]int{}
	columns := map[string]int{}
	layers := layerOf(d)
	for i, n := range d.Nodes {
		index[n.ID] = i
		group := "" // nodes are sorted by group, so that a group's columns stand together
		for _, g := range n.Group {
			group += g + "\x00"
		}
		if _, ok := columns[group]; !ok {
			columns[group] = len(columns)
			l.labels = append(l.labels, n.label())
		}
		s := spot{node: i, column: columns[group], layer: layers[i]}
		s.across, s.long = size(n)
		l.put(s)
	}
	span := func(e Edge) int { return max(layers[index[e.From]]-layers[index[e.To]]-1, 0) }
	shortest := make([]int, len(d.Edges))
	for i := range shortest {
		shortest[i] = i
	}
	slices.SortStableFunc(shortest, func(a, b int) int { return span(d.Edges[a]) - span(d.Edges[b]) })
	l.routes = make([][]int, len(d.Edges))
	bends := bendsPerNode*len(d.Nodes) + 100
	for _, i := range shortest {
		e := d.Edges[i]
		bends -= span(e)
		l.routes[i] = l.connect(index[e.From], index[e.To], bends >= 0)
	}
	return l
}

func (l *layout) put(s spot) int {
	for len(l.layers) <= s.layer {
		l.layers = append(l.layers, nil)
	}
	l.spots = append(l.spots, s)
	l.layers[s.layer] = append(l.layers[s.layer], len(l.spots)-1)
	return len(l.spots) - 1
}

// connect makes the route of an edge.
func (l *layout) connect(from, to int, bend bool) []int {
	route := []int{from}
	if bend {
		for layer := l.spots[from].layer - 1; layer > l.spots[to].layer; layer-- {
			route = append(route, l.put(spot{node: -1, column: l.spots[from].column, layer: layer, across: 8}))
		}
	}
	route = append(route, to)
	for i := range route[1:] {
		a, b := route[i], route[i+1]
		l.spots[a].before = append(l.spots[a].before, b)
		l.spots[b].after = append(l.spots[b].after, a)
	}
	return route
}

// layerOf gives every node a layer after all that it needs. Layers that would be
// very wide are cut into several, and nodes without edges come last.
func layerOf(d Diagram) []int {
	index := map[string]int{}
	for i, n := range d.Nodes {
		index[n.ID] = i
	}
	needs, users, open := make([][]int, len(d.Nodes)), make([][]int, len(d.Nodes)), make([]int, len(d.Nodes))
	for _, e := range d.Edges {
		from, to := index[e.From], index[e.To]
		needs[from], users[to] = append(needs[from], to), append(users[to], from)
		open[from]++
	}
	depth := make([]int, len(d.Nodes))
	var ready, done []int
	for i := range d.Nodes {
		if open[i] == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		n := ready[0]
		ready = ready[1:]
		done = append(done, n)
		for _, u := range users[n] {
			depth[u] = max(depth[u], depth[n]+1)
			if open[u]--; open[u] == 0 {
				ready = append(ready, u)
			}
		}
	}
	deepest := 0
	for _, n := range done {
		deepest = max(deepest, depth[n])
	}
	for i := range d.Nodes {
		if open[i] > 0 || len(needs[i]) == 0 && len(users[i]) == 0 { // in a circle, or alone
			depth[i] = deepest + 1
		}
	}
	return cutWide(depth)
}

// cutWide numbers the layers anew so that none has too many nodes.
func cutWide(depth []int) []int {
	width := max(8, int(math.Ceil(1.2*math.Sqrt(float64(len(depth))))))
	order := make([]int, len(depth))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return depth[a] - depth[b] })
	out := make([]int, len(depth))
	layer, n := 0, 0
	for i, node := range order {
		if i > 0 && (depth[node] != depth[order[i-1]] || n == width) {
			layer, n = layer+1, 0
		}
		out[node] = layer
		n++
	}
	return out
}
