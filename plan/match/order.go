package match

import (
	"fmt"
	"maps"
	"slices"

	"deployster/internal/base/graph"
)

// Begin is a node that asks for a thing, adopts it, or makes it.
type Begin struct {
	Node  string
	Class string // of its thing, see Classes
	Late  bool   // a value that names the thing is known when all before the node is done

	Anew    bool // what it means is destroyed by this plan, and made again
	LeftOut bool // it is not part of the plan: when it is late, nobody will know
}

// Finish is a node that destroys a thing. What a type with memory destroys is none
// of them.
type Finish struct {
	Node        string
	Class       string
	Of          string // the Begin whose old side it is; "" = it is left over
	Anew        bool   // what it destroys is made again
	CreateFirst bool   // it comes after the beginning that takes its place
}

// Ordering is a graph in which ends come before beginnings.
type Ordering struct {
	Before graph.Graph
	// Barriers do nothing: what is destroyed of a class is before its barrier, what
	// begins of it is after. They are about the order only: after a failed end what
	// waits for its barrier may begin. Where ends come after what takes their place there are
	// two: so the other ends are still before that. The last is after all ends.
	Barriers map[string][]string // class -> nodes
	// Known are nodes that do nothing either: they come when the identities of these
	// beginnings are known.
	Known map[string][]string
	// Held are ends that cannot wait until all identities of their class are known,
	// because those wait for them or are no part of the plan. They are left for the
	// next plan.
	Held []string
	// Loose are beginnings that cannot come after the ends of their class, because
	// those wait for them.
	Loose []string
}

// EndsOf lists the ends of a class that its barriers wait for.
func (o Ordering) EndsOf(class string) []string {
	barriers := o.Barriers[class]
	return o.Before[barriers[len(barriers)-1]]
}

// Edge is that a node comes after another.
type Edge struct{ Node, After string }

// Order puts what is destroyed of a class before what begins of it. It takes one
// node for each class, so no edge from every end to every beginning. Where other
// edges already say the opposite, those are kept. Releases are ends that come after
// beginnings which let go of their things; those that lie in a circle are left out.
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

// node gives a node that does nothing; no address is like its name.
func (o *orderer) node(what string) string {
	o.nodes++
	name := fmt.Sprintf("%s:%d", what, o.nodes)
	o.before[name] = nil
	return name
}

// release adds the edges that lie in no circle.
func (o *orderer) release(edges []Edge) {
	for _, e := range edges {
		o.before[e.Node] = append(o.before[e.Node], e.After)
	}
	if len(edges) == 0 {
		return
	}
	circle := o.before.Circles()
	for _, e := range edges {
		if circle[e.Node] == circle[e.After] {
			o.before[e.Node] = slices.DeleteFunc(o.before[e.Node], func(n string) bool { return n == e.After })
		}
	}
}

// lateFirst lets each end wait until the identities of its class are known: one of
// them may be that of the thing that it would destroy. An end that cannot wait,
// because what an identity comes from waits for it or is left out, is held.
func (o *orderer) lateFirst(before graph.Graph, ends []Finish) {
	known := map[string]string{} // class -> the node after which all are
	var waits [][2]string
	for _, end := range ends {
		lates := o.lates[end.Class]
		needless := func(b Begin) bool { return b.Node == end.Of || end.Anew && b.Anew }
		own := slices.ContainsFunc(lates, needless)
		if own { // its own beginning waits for it anyway, and of two that are made anew neither loses its thing to the other
			lates = slices.DeleteFunc(slices.Clone(lates), needless)
		}
		if len(lates) == 0 {
			continue
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
	circle := o.before.Circles()
	for _, w := range waits {
		if circle[w[0]] == circle[w[1]] {
			o.held[w[0]] = true
			o.before[w[0]] = slices.DeleteFunc(o.before[w[0]], func(n string) bool { return n == w[1] })
		}
	}
}

// identitiesKnown makes the node after which the identities of these are known:
// when all is done that they wait for.
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
// the ends that come before all beginnings, and where some come after what takes their
// place one after all ends, the last.
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

// barriersAfter makes a barrier after the ends of each class: with createFirst after all,
// where there is one that comes after what takes its place, else after the others.
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

// beginAfter lets beginnings wait for the barriers of their classes, but for those that
// lie in a circle with it: these are loose.
func (o *orderer) beginAfter(barriers map[string]string, begins []Begin) {
	if len(barriers) == 0 {
		return
	}
	for _, b := range begins {
		if at := barriers[b.Class]; at != "" && !b.LeftOut {
			o.before[b.Node] = append(o.before[b.Node], at)
		}
	}
	circle := o.before.Circles()
	for _, b := range begins {
		if at := barriers[b.Class]; at != "" && !b.LeftOut && circle[at] == circle[b.Node] {
			o.before[b.Node] = slices.DeleteFunc(o.before[b.Node], func(n string) bool { return n == at })
			o.loose = append(o.loose, b.Node)
		}
	}
}

// Classes says of each declared resource, by address, and of each entry, by key,
// where and among which things its own is: the kind, the host and the writable
// plugs. What is destroyed and what begins of one class are put in order. What a type
// remembers says which thing is meant, so its things are of no class ("").
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

// class is that of a thing, as a type sees it.
func (t Type) class(thing Thing) string {
	if t.Memory || thing.Type.Memory {
		return ""
	}
	return join(t.kind(), thing.place())
}
