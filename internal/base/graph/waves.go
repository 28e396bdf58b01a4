package graph

// group is the hosts that a wave begins together.
type group struct {
	places []*place
	begun  bool // something was changed at one of its places
	in     bool // it has a seat in the current wave
}

// wave is how many groups may still be begun. A nil wave admits all.
type wave struct {
	seats int // of the wave
	taken int // by groups that were begun in it, or on which nodes run or are ready
}

func (l *Limits) groupOf(name string) *group {
	if l.groups[name] == nil {
		l.groups[name] = &group{}
	}
	return l.groups[name]
}

// Wave begins a wave: until the next one, that many groups of hosts may be begun in addition to those that
// are begun already. A group on which nothing is begun gives its seat back when it has nothing to do.
func (l *Limits) Wave(seats int) {
	l.wave = &wave{seats: seats}
	for _, g := range l.groups {
		g.in = false
	}
}

// NoWaves lets all hosts begin.
func (l *Limits) NoWaves() { l.wave = nil }

// Held reports whether nodes wait for the next wave.
func (l *Limits) Held() bool {
	for _, p := range l.busy {
		if !p.stopped && !l.wave.admits(p) {
			return true
		}
	}
	return false
}

// admits reports whether a node at a place may start in this wave.
func (w *wave) admits(p *place) bool {
	return w == nil || p.group == nil || p.group.begun || p.group.in || w.taken < w.seats
}

// join gives a group that is not begun a seat.
func (w *wave) join(g *group) {
	if w != nil && g != nil && !g.begun && !g.in {
		g.in = true
		w.taken++
	}
}

// leave takes the seat of a group that has nothing to do, and on which nothing is begun.
func (w *wave) leave(g *group) {
	if w == nil || g == nil || !g.in || g.begun {
		return
	}
	for _, p := range g.places {
		if p.at > 0 || p.waiting > 0 && !p.stopped {
			return
		}
	}
	g.in = false
	w.taken--
}
