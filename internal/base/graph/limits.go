package graph

import (
	"slices"

	"deployster/internal/base/natural"
)

// Lane is where a node is worked on, and what kind of work it is there: each kind has
// its own limit at each place.
type Lane struct {
	Place string
	Host  bool // the place is one of those of which so many are worked on at one time
	Kind  int
}

// Limits say how many nodes of each kind may run at one time at each place, and at how
// many hosts: what of a frontier may start now. A node that waits for room in its own
// lane holds up no other. Not safe for concurrent use: it has one owner, as the frontier.
type Limits struct {
	frontier *Frontier
	laneOf   func(node string) Lane
	most     []int
	hosts    int // at one time; 0 = any number
	places   map[string]*place
	busy     []*place // that have nodes which are ready, sorted by name
	idle     []*place // that may have nothing to do any more
	open     int      // hosts that are worked on
	running  int
	closed   bool // no host is begun any more
}

// place is where nodes are worked on.
type place struct {
	name    string
	host    bool
	ready   []ready // taken from the frontier, by kind
	running []int
	waiting int // in all of ready
	at      int // in all of running
	open    bool
	begun   bool
	stopped bool
}

// NewLanes returns limits of each kind at each place, and of how many hosts are worked
// on at one time: one is finished, as far as order allows, before the next is begun.
func NewLanes(f *Frontier, laneOf func(node string) Lane, hosts int, most ...int) *Limits {
	return &Limits{frontier: f, laneOf: laneOf, most: most, hosts: hosts, places: map[string]*place{}}
}

// Take gives a node that may start, if there is one: the first one by name of its lane,
// of a host that is worked on before one that is not.
func (l *Limits) Take() (node string, ok bool) {
	for _, node := range l.frontier.TakeAll() {
		l.put(node)
	}
	for _, p := range l.idle {
		if p.open && p.at == 0 && (p.waiting == 0 || p.stopped) {
			p.open = false
			l.open--
		}
	}
	l.idle = l.idle[:0]
	for _, begun := range []func(*place) bool{
		func(p *place) bool { return !p.host || p.open },
		func(p *place) bool { return !p.open && p.host && p.begun },
		func(p *place) bool { return !p.open && p.host && !p.begun },
	} {
		for _, p := range l.busy {
			if p.stopped || !begun(p) || p.host && !p.open && l.full() || p.host && !p.begun && l.closed {
				continue
			}
			if kind := l.room(p); kind >= 0 {
				return l.take(p, kind), true
			}
		}
	}
	return "", false
}

// full reports whether no other host may be worked on.
func (l *Limits) full() bool { return l.hosts > 0 && l.open >= l.hosts }

// room is the first kind of which a node waits at a place where it may start; -1 = none.
func (l *Limits) room(p *place) int {
	for kind, most := range l.most {
		if len(p.ready[kind]) > 0 && p.running[kind] < most {
			return kind
		}
	}
	return -1
}

// place returns the place of a lane.
func (l *Limits) place(lane Lane) *place {
	p := l.places[lane.Place]
	if p == nil {
		p = &place{name: lane.Place, host: lane.Host, ready: make([]ready, len(l.most)), running: make([]int, len(l.most))}
		l.places[lane.Place] = p
	}
	return p
}

// put takes note of a node that is ready.
func (l *Limits) put(node string) {
	lane := l.laneOf(node)
	p := l.place(lane)
	p.ready[lane.Kind].put(node)
	if p.waiting++; p.waiting == 1 {
		i, _ := l.find(p)
		l.busy = slices.Insert(l.busy, i, p)
	}
}

// find says where a place stands among those that are busy.
func (l *Limits) find(p *place) (int, bool) {
	return slices.BinarySearchFunc(l.busy, p, func(a, b *place) int { return natural.Compare(a.name, b.name) })
}

// take begins a node.
func (l *Limits) take(p *place, kind int) string {
	if p.begun = true; p.host && !p.open {
		p.open = true
		l.open++
	}
	l.running++
	p.at++
	p.running[kind]++
	if p.waiting--; p.waiting == 0 {
		if i, there := l.find(p); there {
			l.busy = slices.Delete(l.busy, i, i+1)
		}
	}
	return p.ready[kind].take()
}

// Ended is called when a node that was taken does not run any more, beside Done
// or Drop of the frontier.
func (l *Limits) Ended(node string) {
	lane := l.laneOf(node)
	p := l.place(lane)
	p.running[lane.Kind]--
	l.running--
	if p.at--; p.at == 0 {
		l.idle = append(l.idle, p)
	}
}

// Stop begins nothing more at the place of a node.
func (l *Limits) Stop(node string) {
	p := l.place(l.laneOf(node))
	p.stopped = true
	l.idle = append(l.idle, p)
}

// Enough begins no host any more that was not begun yet.
func (l *Limits) Enough() { l.closed = true }

// Running is how many have not ended.
func (l *Limits) Running() (n int) { return l.running }
