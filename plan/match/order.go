package match

import (
	"fmt"
	"maps"
	"slices"

	"deployster/internal/base/graph"
)

// Begin is a node that queries an object, adopts it, or creates it.
type Begin struct {
	Node  string
	Class string // of its thing, see Classes
	Late  bool   // the identity is known only when all nodes before this one are done

	Recreated bool // this plan destroys its thing, and creates it again
	LeftOut   bool // the plan omits it: if it is late, its identity stays unknown
}

// Finish is a node that destroys a thing. Objects of types with memory have no such
// node.
type Finish struct {
	Node        string
	Class       string
	Of          string // the Begin whose old thing it destroys; "" = the entry is left over
	Recreated   bool   // its object is created again
	CreateFirst bool   // it comes after the beginning that replaces it
}

// Ordering is a graph in which ends come before beginnings.
type Ordering struct {
	Before graph.Graph
	// Barriers are nodes that do nothing: the ends of a class come before its barrier, the
	// beginnings after it. They only order: after a failed end, what waits for the barrier
	// may begin. A class with create-first ends has two barriers, so that its other ends
	// still come before the beginnings. The last barrier is after all ends.
	Barriers map[string][]string // class -> nodes
	// Known are nodes that do nothing either: each is reached when the identities of
	// the beginnings in its list are known.
	Known map[string][]string
	// Held are ends that cannot wait until all identities of their class are known,
	// because late beginnings wait for them or are left out of the plan. They are left
	// for the next plan.
	Held []string
	// Loose are beginnings that cannot come after the ends of their class, because
	// these ends wait for them.
	Loose []string
}

// EndsOf lists the ends of a class: all that its last barrier waits for.
func (o Ordering) EndsOf(class string) []string {
	barriers := o.Barriers[class]
	return o.Before[barriers[len(barriers)-1]]
}

// Edge reports that Node comes after After.
type Edge struct{ Node, After string }

// Order puts the ends of a class before its beginnings. It adds barrier nodes to each
// class, instead of an edge from every end to every beginning. Where existing edges require
// the opposite, those win. Releases are edges by which an end comes after a resource
// that no longer depends on its thing; releases that close a cycle are left out.
func Order(before graph.Graph, releases []Edge, begins []Begin, ends []Finish) Ordering {
	o := orderer{before: make(graph.Graph, len(before)), lates: map[string][]Begin{}, known: map[string][]string{}, held: map[string]bool{}}
	for n, list := range before {
		o.before[n] = slices.Clone(list)
	}
	for _, b := range begins {
		if b.Late {
			o.lates[b.Class] = append(o.lates[b.Class], b)
		}
	}
	o.release(releases)
	o.lateFirst(before, ends)
	barriers := o.endsFirst(begins, ends)
	return Ordering{Before: o.before, Barriers: barriers, Known: o.known, Held: slices.Sorted(maps.Keys(o.held)), Loose: o.loose}
}

type orderer struct {
	before graph.Graph
	lates  map[string][]Begin // by class
	known  map[string][]string
	held   map[string]bool
	loose  []string
	nodes  int
}

// node adds a node that does nothing; no address looks like its name.
func (o *orderer) node(what string) string {
	o.nodes++
	name := fmt.Sprintf("%s:%d", what, o.nodes)
	o.before[name] = nil
	return name
}

// release adds the edges that close no cycle.
func (o *orderer) release(edges []Edge) {
	for _, e := range edges {
		o.before[e.Node] = append(o.before[e.Node], e.After)
	}
	if len(edges) == 0 {
		return
	}
	cycle := o.before.Cycles()
	for _, e := range edges {
		if cycle[e.Node] == cycle[e.After] {
			o.before[e.Node] = slices.DeleteFunc(o.before[e.Node], func(n string) bool { return n == e.After })
		}
	}
}

// lateFirst makes each end wait until the identities of its class are known: one of
// them may be that of the thing that it would destroy. An end that cannot wait is held:
// a late resource is left out of the plan, or what its identity needs waits for the end.
func (o *orderer) lateFirst(before graph.Graph, ends []Finish) {
	known := map[string]string{} // class -> the node after which all its identities are known
	var waits [][2]string
	for _, end := range ends {
		lates := o.lates[end.Class]
		needless := func(b Begin) bool { return b.Node == end.Of || end.Recreated && b.Recreated }
		if !slices.ContainsFunc(lates, func(b Begin) bool { return !needless(b) }) {
			continue
		}
		own := slices.ContainsFunc(lates, needless)
		if own { // its own beginning waits for it anyway; of two objects created again neither is lost to the other
			lates = slices.DeleteFunc(slices.Clone(lates), needless)
		}
		if slices.ContainsFunc(lates, func(b Begin) bool { return b.LeftOut }) {
			o.held[end.Node] = true
			continue
		}
		at := known[end.Class]
		if at == "" || own {
			at = o.identitiesKnown(before, lates)
		}
		if !own {
			known[end.Class] = at
		}
		o.before[end.Node] = append(o.before[end.Node], at)
		waits = append(waits, [2]string{end.Node, at})
	}
	if len(waits) == 0 {
		return
	}
	cycle := o.before.Cycles()
	for _, w := range waits {
		if cycle[w[0]] == cycle[w[1]] {
			o.held[w[0]] = true
			o.before[w[0]] = slices.DeleteFunc(o.before[w[0]], func(n string) bool { return n == w[1] })
		}
	}
}

// identitiesKnown adds a node that is reached when the identities of these beginnings
// are known: when all that they wait for is done.
func (o *orderer) identitiesKnown(before graph.Graph, lates []Begin) string {
	at := o.node("known")
	for _, b := range lates {
		o.before[at] = append(o.before[at], before[b.Node]...)
		o.known[at] = append(o.known[at], b.Node)
	}
	slices.Sort(o.before[at])
	o.before[at] = slices.Compact(o.before[at])
	return at
}

// endsFirst puts barriers between the ends and the beginnings of each class: one after
// the ends that come before all beginnings, and, where the class has create-first ends, a
// last one after all ends.
func (o *orderer) endsFirst(begins []Begin, ends []Finish) map[string][]string {
	all := map[string][]string{}
	for _, createFirst := range []bool{false, true} {
		barriers := o.barriersAfter(ends, createFirst)
		o.beginAfter(barriers, begins)
		for class, at := range barriers {
			all[class] = append(all[class], at)
		}
	}
	slices.Sort(o.loose)
	o.loose = slices.Compact(o.loose)
	return all
}

// barriersAfter adds a barrier to each class: with createFirst after all ends of a class that
// has create-first ends, else after the ends that are not create-first.
func (o *orderer) barriersAfter(ends []Finish, createFirst bool) map[string]string {
	barriers := map[string]string{}
	for _, end := range ends {
		if !o.held[end.Node] && end.CreateFirst == createFirst && barriers[end.Class] == "" {
			barriers[end.Class] = o.node("barrier")
		}
	}
	for _, end := range ends {
		if at := barriers[end.Class]; at != "" && !o.held[end.Node] && (createFirst || !end.CreateFirst) {
			o.before[at] = append(o.before[at], end.Node)
		}
	}
	return barriers
}

// beginAfter makes beginnings wait for the barriers of their classes, except beginnings
// for which that would close a cycle: these are loose.
func (o *orderer) beginAfter(barriers map[string]string, begins []Begin) {
	if len(barriers) == 0 {
		return
	}
	for _, b := range begins {
		if at := barriers[b.Class]; at != "" && !b.LeftOut {
			o.before[b.Node] = append(o.before[b.Node], at)
		}
	}
	cycle := o.before.Cycles()
	for _, b := range begins {
		if at := barriers[b.Class]; at != "" && !b.LeftOut && cycle[at] == cycle[b.Node] {
			o.before[b.Node] = slices.DeleteFunc(o.before[b.Node], func(n string) bool { return n == at })
			o.loose = append(o.loose, b.Node)
		}
	}
}

// Classes returns the class of the thing of each declared resource, by address, and of
// each entry, by key: its kind, host and writable plugs. Order puts the ends and the
// beginnings of one class in order. A type with memory needs no such order, as its memory
// reports which thing is intended: its objects have the class "".
func (r Result) Classes() (declared, recorded map[string]string) {
	declared, recorded = make(map[string]string, len(r.in.Declared)), make(map[string]string, len(r.in.Recorded))
	now := map[string]Type{}
	for _, d := range r.in.Declared {
		t := d.Thing.Type
		if _, there := now[t.image()]; !there {
			now[t.image()] = t
		}
		declared[d.Address] = t.class(d.Thing)
	}
	for _, e := range r.in.Recorded {
		t := e.Thing.Type
		if same, there := now[t.image()]; there {
			t = same
		}
		recorded[e.Key] = t.class(e.Thing)
	}
	return declared, recorded
}

// class returns the class of a thing, as a type sees it.
func (t Type) class(thing Object) string {
	if t.Memory || thing.Type.Memory {
		return ""
	}
	return join(t.kind(), thing.place())
}
