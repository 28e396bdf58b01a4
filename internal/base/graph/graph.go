package graph

import (
	"fmt"
	"slices"
	"strings"

	"deployster/internal/base/natural"
)

// Graph lists, for every node, the nodes that come before it. A node without predecessors
// has an empty list; every name in a list must be a node too.
type Graph map[string][]string

// Layers sorts the nodes topologically: every node is in a later layer than all nodes
// before it, and names within a layer are sorted. A cycle is an error that names its
// members and the nodes after it.
func (g Graph) Layers() ([][]string, error) {
	f := NewFrontier(g)
	layers := [][]string{}
	for f.Open() > 0 {
		layer := f.TakeAll()
		if len(layer) == 0 {
			return nil, fmt.Errorf("dependency cycle: %s", strings.Join(f.Waiting(), ", "))
		}
		for _, n := range layer {
			f.Done(n)
		}
		layers = append(layers, layer)
	}
	return layers, nil
}

// Sorted lists the nodes layer by layer. It leaves out those of a cycle, and those after one.
func (g Graph) Sorted() (list []string) {
	f := NewFrontier(g)
	for layer := f.TakeAll(); len(layer) > 0; layer = f.TakeAll() {
		for _, n := range layer {
			f.Done(n)
		}
		list = append(list, layer...)
	}
	return list
}

// Reverse returns the graph with every edge reversed.
func (g Graph) Reverse() Graph {
	r := make(Graph, len(g))
	for n := range g {
		r[n] = nil
	}
	for n, before := range g {
		for _, b := range before {
			r[b] = append(r[b], n)
		}
	}
	for _, list := range r {
		slices.Sort(list)
	}
	return r
}

// Frontier walks a graph: it has the nodes that are ready, and the nodes that become
// ready when one is done. It is not safe for concurrent use: it has one owner.
type Frontier struct {
	blockers map[string]int // how many nodes before it are not done
	after    Graph
	ready    ready
	taken    map[string]bool
	open     int
	lenient  map[string]bool // see Lenient
}

// NewFrontier starts a walk.
func NewFrontier(g Graph) *Frontier {
	f := &Frontier{blockers: make(map[string]int, len(g)), after: g.Reverse(), taken: make(map[string]bool, len(g)), open: len(g),
		lenient: map[string]bool{}}
	for n, before := range g {
		f.blockers[n] = len(before)
		if len(before) == 0 {
			f.ready = append(f.ready, n)
		}
	}
	natural.Sort(f.ready) // a sorted slice is a valid heap
	return f
}

// Lenient lets nodes become ready also when a node before them was dropped.
func (f *Frontier) Lenient(nodes ...string) {
	for _, n := range nodes {
		f.lenient[n] = true
	}
}

// Open returns how many nodes are neither done nor dropped.
func (f *Frontier) Open() int { return f.open }

// TakeAll returns all nodes that are ready now, and marks them as taken.
func (f *Frontier) TakeAll() []string {
	all := f.ready.all()
	for _, n := range all {
		f.taken[n] = true
	}
	return all
}

// Done marks a node as done: the nodes that waited for it alone become ready.
func (f *Frontier) Done(node string) {
	f.open--
	for _, n := range f.after[node] {
		if f.blockers[n]--; f.blockers[n] == 0 {
			f.ready.put(n)
		}
	}
}

// Drop ends a node that failed and returns all nodes that can never become ready because
// of it, sorted: all that waited for it, directly or indirectly, except lenient ones.
func (f *Frontier) Drop(node string) []string {
	f.open--
	seen := map[string]bool{}
	todo := []string{node}
	for len(todo) > 0 {
		n := todo[0]
		todo = todo[1:]
		for _, next := range f.after[n] {
			switch {
			case f.lenient[next]:
				if f.blockers[next]--; f.blockers[next] == 0 {
					f.ready.put(next)
				}
			case !seen[next] && !f.taken[next]:
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	lost := make([]string, 0, len(seen))
	for n := range seen {
		f.taken[n] = true // it is dropped: a second failure does not report it again
		lost = append(lost, n)
	}
	f.open -= len(lost)
	slices.Sort(lost)
	return lost
}

// Waiting lists the nodes that were never taken.
func (f *Frontier) Waiting() []string {
	var waiting []string
	for n := range f.blockers {
		if !f.taken[n] {
			waiting = append(waiting, n)
		}
	}
	slices.Sort(waiting)
	return waiting
}
