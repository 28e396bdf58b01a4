package diagram

import (
	"cmp"
	"math"
	"slices"

	"deployster/internal/base/graph"
)

// The distances of a layout, in pixels.
const (
	gapAcross = 22 // between two boxes of a layer
	gapColumn = 46 // between two columns, which holds the frames of groups
	sweeps    = 12 // how often the order in the layers is improved
	maxBends  = 3  // for each node; where there would be more, edges are straight lines behind the boxes
)

// layout is a layered drawing: what comes first in the first layer, and every
// edge from one layer to an earlier one.
type layout struct {
	d      Diagram
	spots  []spot
	layers [][]int  // spots, in their order
	labels []string // of the columns: each group has one
	routes [][]int  // the spots of each edge, from From to To
}

// spot is a node, or a bend of an edge that passes a layer.
type spot struct {
	column, layer int
	at            float64 // the middle, across the layers
	across, along float64 // the extent
	before, after []int   // spots in earlier and in later layers that are connected
}

// newLayout lays a tidy diagram out. Spots have the numbers of their nodes; those
// of bends follow.
func newLayout(d Diagram, size func(Node) (across, along float64)) *layout {
	l := &layout{d: d, routes: make([][]int, len(d.Edges))}
	layers, columns, index := layersOf(d), map[string]int{}, map[string]int{}
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
		s := spot{column: columns[group], layer: layers[n.ID]}
		s.across, s.along = size(n)
		l.add(s)
	}
	bends := 0
	for _, e := range d.Edges {
		bends += max(layers[e.From]-layers[e.To]-1, 0)
	}
	for i, e := range d.Edges {
		l.routes[i] = l.connect(index[e.From], index[e.To], bends <= maxBends*len(d.Nodes)+100)
	}
	for i := range sweeps {
		for j, layer := range l.layers {
			if i%2 == 0 {
				l.reorder(layer, func(s *spot) []int { return s.before })
			} else {
				l.reorder(l.layers[len(l.layers)-1-j], func(s *spot) []int { return s.after })
			}
		}
	}
	l.place()
	return l
}

func (l *layout) add(s spot) int {
	for len(l.layers) <= s.layer {
		l.layers = append(l.layers, nil)
	}
	l.spots = append(l.spots, s)
	l.layers[s.layer] = append(l.layers[s.layer], len(l.spots)-1)
	return len(l.spots) - 1
}

// connect returns the route of an edge.
func (l *layout) connect(from, to int, bend bool) []int {
	route := []int{from}
	for layer := l.spots[from].layer - 1; bend && layer > l.spots[to].layer; layer-- {
		route = append(route, l.add(spot{column: l.spots[from].column, layer: layer, across: 8}))
	}
	route = append(route, to)
	for i, a := range route[:len(route)-1] {
		b := route[i+1]
		l.spots[a].before = append(l.spots[a].before, b)
		l.spots[b].after = append(l.spots[b].after, a)
	}
	return route
}

// layersOf returns the layer of each node: later than those of all that it needs.
// Layers that would be very wide are cut into several; nodes in a circle and nodes
// without edges come last.
func layersOf(d Diagram) map[string]int {
	needs, connected := graph.Graph{}, map[string]bool{}
	for _, n := range d.Nodes {
		needs[n.ID] = nil
	}
	for _, e := range d.Edges {
		needs[e.From] = append(needs[e.From], e.To)
		connected[e.From], connected[e.To] = true, true
	}
	var layers [][]string
	frontier := graph.NewFrontier(needs)
	for layer := frontier.TakeAll(); len(layer) > 0; layer = frontier.TakeAll() {
		for _, id := range layer {
			frontier.Done(id)
		}
		layers = append(layers, layer)
	}
	last := frontier.Waiting()
	if len(layers) > 0 {
		alone := func(id string) bool { return !connected[id] }
		for _, id := range layers[0] {
			if alone(id) {
				last = append(last, id)
			}
		}
		layers[0] = slices.DeleteFunc(layers[0], alone)
	}
	out, next := map[string]int{}, 0
	width := max(8, int(math.Ceil(1.2*math.Sqrt(float64(len(d.Nodes))))))
	for _, layer := range append(layers, last) {
		for part := range slices.Chunk(layer, width) {
			for _, id := range part {
				out[id] = next
			}
			next++
		}
	}
	return out
}

// reorder sorts a layer by the mean place of the neighbours. Columns stay apart.
func (l *layout) reorder(layer []int, neighbours func(*spot) []int) {
	wish := map[int]float64{}
	for i, s := range layer {
		wish[s] = l.mean(neighbours(&l.spots[s]), float64(i))
	}
	slices.SortStableFunc(layer, func(a, b int) int {
		return cmp.Or(l.spots[a].column-l.spots[b].column, cmp.Compare(wish[a], wish[b]))
	})
	for i, s := range layer {
		l.spots[s].at = float64(i)
	}
}

func (l *layout) mean(list []int, otherwise float64) float64 {
	if len(list) == 0 {
		return otherwise
	}
	sum := 0.0
	for _, s := range list {
		sum += l.spots[s].at
	}
	return sum / float64(len(list))
}

// place puts the spots of each layer side by side, and the columns: each is as
// wide as its widest layer and, where it is seen from above, as its label.
func (l *layout) place() {
	low, high := make([]float64, len(l.labels)), make([]float64, len(l.labels))
	for c, label := range l.labels {
		if !l.d.Rightwards {
			high[c] = charWidth * float64(len([]rune(label))) / 2
			low[c] = -high[c]
		}
	}
	for _, layer := range l.layers {
		for len(layer) > 0 {
			c := l.spots[layer[0]].column
			end := slices.IndexFunc(layer, func(s int) bool { return l.spots[s].column != c })
			if end < 0 {
				end = len(layer)
			}
			from, to := l.placeRow(layer[:end])
			low[c], high[c] = min(low[c], from), max(high[c], to)
			layer = layer[end:]
		}
	}
	gap, start, shift := float64(gapColumn), 0.0, make([]float64, len(l.labels))
	if l.d.Rightwards {
		gap += 2 * lineHeight // the labels stand between the frames
	}
	for c := range shift {
		shift[c] = start - low[c]
		start += high[c] - low[c] + gap
	}
	for i := range l.spots {
		l.spots[i].at += shift[l.spots[i].column]
	}
}

// placeRow puts spots side by side, as near as possible to those that they are
// connected with in earlier layers of their column, and returns the extent.
func (l *layout) placeRow(row []int) (from, to float64) {
	width, wishes, wanting := 0.0, 0.0, 0
	for _, n := range row {
		s := &l.spots[n]
		s.at = width + s.across/2
		width += s.across + gapAcross
		near := slices.DeleteFunc(slices.Clone(s.before), func(b int) bool { return l.spots[b].column != s.column })
		if len(near) > 0 {
			wishes += l.mean(near, 0) - s.at
			wanting++
		}
	}
	width -= gapAcross
	from = -width / 2
	if wanting > 0 {
		from = wishes / float64(wanting)
	}
	for _, n := range row {
		l.spots[n].at += from
	}
	return from, from + width
}
