package graph

import (
	"cmp"
	"slices"

	"deployster/internal/base/natural"
)

// Lane is the place where a node runs and the kind of its work: each kind has its own
// limit at each place.
type Lane struct {
	Place string
	Host  bool // the place counts towards the limit of hosts in use at a time
	Kind  int
	Group string // the hosts that are begun together, in waves; "" = the place alone
}

// Limits decide which ready nodes of a frontier may start now: they bound how many nodes of each kind
// run at a time at each place, and at how many hosts. A node that waits for room in its own lane
// holds up no other. Not safe for concurrent use: it has one owner, like the frontier.
type Limits struct {
	frontier *Frontier
	laneOf   func(node string) Lane
	most     []int
	hosts    int // in use at a time; 0 = any number
	places   map[string]*place
	groups   map[string]*group
	busy     []*place // the places with ready nodes, sorted by name
	idle     []*place // the places that may have nothing to do any more
	open     int      // the number of hosts in use
	running  int
	wave     *wave // nil = hosts are begun as soon as there is room
}

// place is a place where nodes run.
type place struct {
	name    string
	host    bool
	group   *group
	ready   []ready // taken from the frontier, by kind
	running []int
	waiting int // the sum of ready
	at      int // the sum of running
	open    bool
	begun   bool // see Begin
	stopped bool
}

// NewLanes returns limits of each kind at each place, and of the number of hosts in use
// at a time: one host is finished, as far as the order allows, before the next is begun.
// Begin notes that a host is begun.
func NewLanes(f *Frontier, laneOf func(node string) Lane, hosts int, most ...int) *Limits {
	return &Limits{frontier: f, laneOf: laneOf, most: most, hosts: hosts, places: map[string]*place{}, groups: map[string]*group{}}
}

// Take returns a node that may start, if any. Places in use come before hosts that were begun
// earlier, and those before new hosts; within a lane the first node by name comes first.
func (l *Limits) Take() (node string, ok bool) {
	for _, node := range l.frontier.TakeAll() {
		l.put(node)
	}
	for _, p := range l.idle {
		if p.open && p.at == 0 && (p.waiting == 0 || p.stopped) {
			p.open = false
			l.open--
		}
		l.wave.leave(p.group)
	}
	l.idle = l.idle[:0]
	for _, begun := range []func(*place) bool{
		func(p *place) bool { return !p.host || p.open },
		func(p *place) bool { return !p.open && p.host && p.begun },
		func(p *place) bool { return !p.open && p.host && !p.begun },
	} {
		for _, p := range l.busy {
			if p.stopped || !begun(p) || p.host && !p.open && l.full() || !l.wave.admits(p) {
				continue
			}
			if kind := l.startable(p); kind >= 0 {
				return l.take(p, kind), true
			}
		}
	}
	return "", false
}

// full reports whether no further host may be used now.
func (l *Limits) full() bool { return l.hosts > 0 && l.open >= l.hosts }

// startable returns the first kind that has a waiting node and room to start it; -1 = none.
func (l *Limits) startable(p *place) int {
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
		if lane.Host {
			p.group = l.groupOf(cmp.Or(lane.Group, lane.Place))
			p.group.places = append(p.group.places, p)
		}
	}
	return p
}

// put adds a node that is ready.
func (l *Limits) put(node string) {
	lane := l.laneOf(node)
	p := l.place(lane)
	p.ready[lane.Kind].put(node)
	if p.waiting++; p.waiting == 1 {
		i, _ := l.find(p)
		l.busy = slices.Insert(l.busy, i, p)
	}
}

// find returns the index of a place among the busy ones.
func (l *Limits) find(p *place) (int, bool) {
	return slices.BinarySearchFunc(l.busy, p, func(a, b *place) int { return natural.Compare(a.name, b.name) })
}

// take removes the first ready node of a kind and counts it as running.
func (l *Limits) take(p *place, kind int) string {
	if p.host && !p.open {
		p.open = true
		l.open++
	}
	l.wave.join(p.group)
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

// Ended records that a taken node no longer runs. The caller also calls Done or Drop of
// the frontier.
func (l *Limits) Ended(node string) {
	lane := l.laneOf(node)
	p := l.place(lane)
	p.running[lane.Kind]--
	l.running--
	if p.at--; p.at == 0 {
		l.idle = append(l.idle, p)
	}
}

// Stop prevents further nodes from starting at the place of this node.
func (l *Limits) Stop(node string) {
	p := l.place(l.laneOf(node))
	p.stopped = true
	l.idle = append(l.idle, p)
}

// Begin notes that something was changed at the place of this node.
func (l *Limits) Begin(node string) {
	p := l.place(l.laneOf(node))
	if p.begun = true; p.group != nil {
		p.group.begun = true
	}
}

// Running returns how many nodes have started and not ended.
func (l *Limits) Running() (n int) { return l.running }
