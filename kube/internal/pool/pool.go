package pool

import (
	"context"
	"slices"
	"sync"
	"time"
)

// mostRequests is how many requests to workers run in one Pod at a time.
const mostRequests = 16

// How long a call waits for the Pods of its group that run before the group gets a further one. Requests to workers, which end
// soon, are worth one if they wait, one after the other, for as long as a start takes.
const (
	Further         = time.Second
	furtherRequests = 3 * time.Second
)

// Pool is the Pods of one command. It is safe for concurrent use.
type Pool struct {
	remove func(*Member) // removes a Pod without blocking, and calls Free

	mu      sync.Mutex
	most    int // Pods at a time
	limit   int // Pods at a time, as a quota allows
	used    int // Pods that exist, or are about to
	leaving int // Pods that are being removed
	members []*Member
	queue   []*waiter
	freed   chan struct{} // closed when there is a Pod less
}

// waiter is an invocation that has no Pod yet.
type waiter struct {
	group string
	use   Use
	name  string
	since time.Time // since when it waits, or requests before it
	got   chan *Member
	fresh bool // the Pod that it got must be made
}

// New returns a Pool of at most that many Pods. remove removes a Pod without blocking, and calls Free when it is removed.
func New(most int, remove func(*Member)) *Pool {
	return &Pool{remove: remove, most: most, limit: most, freed: make(chan struct{})}
}

// Full describes what an invocation without a Pod waits for.
const Full = "this command has as many Pods as it may have"

// Take waits until an invocation has a place in a Pod. If fresh is true the caller must make the Pod by that name, and
// call Member.Begin. waits is called while there is no place, with a Pod of the group that is about to run; nil = there is none.
func (p *Pool) Take(ctx context.Context, group, name string, use Use, waits func(starting *Member)) (m *Member, fresh bool, err error) {
	w := &waiter{group: group, use: use, name: name, got: make(chan *Member, 1)}
	p.mu.Lock()
	w.since = p.waits(w)
	p.queue = append(p.queue, w)
	p.dispatch()
	p.mu.Unlock()
	tick := time.NewTicker(Further / 4)
	defer tick.Stop()
	for {
		select {
		case m := <-w.got:
			return m, w.fresh, nil
		case <-tick.C:
			p.mu.Lock()
			p.dispatch()
			starting := p.starting(w)
			p.mu.Unlock()
			waits(starting)
		case <-ctx.Done():
			return nil, false, p.giveUp(ctx, w)
		}
	}
}

// waits returns since when a new waiter counts as waiting. Requests to workers count together: each may wait for a moment only,
// although there are always some that wait.
func (p *Pool) waits(w *waiter) time.Time {
	i := slices.IndexFunc(p.queue, func(o *waiter) bool { return w.use == Request && o.use == Request && o.group == w.group })
	if i < 0 {
		return time.Now()
	}
	return p.queue[i].since
}

// giveUp takes a waiter out of the queue.
func (p *Pool) giveUp(ctx context.Context, w *waiter) error {
	p.mu.Lock()
	p.queue = slices.DeleteFunc(p.queue, func(o *waiter) bool { return o == w })
	p.mu.Unlock()
	select {
	case m := <-w.got:
		if w.fresh {
			m.Begin(context.Cause(ctx))
			p.Drop(m)
		} else {
			p.Leave(m, w.use)
		}
	default:
	}
	return context.Cause(ctx)
}

// dispatch gives places to those who wait, in their order.
func (p *Pool) dispatch() {
	p.queue = slices.DeleteFunc(p.queue, func(w *waiter) bool {
		m := p.grant(w)
		if m != nil {
			w.got <- m
		}
		return m != nil
	})
}

// shared returns the Pods that an invocation may share.
func (p *Pool) shared(w *waiter) (list []*Member) {
	for _, m := range p.members {
		if w.use != Own && m.group == w.group && !m.dead {
			list = append(list, m)
		}
	}
	return list
}

// starting returns a Pod that an invocation could share once it runs; nil = there is none.
func (p *Pool) starting(w *waiter) *Member {
	for _, m := range p.shared(w) {
		if m.since().IsZero() {
			return m
		}
	}
	return nil
}

// enough reports whether the Pods of a group are as many as it needs: one that starts gives no reason for another, and no more
// start at a time than run.
func enough(w *waiter, group []*Member) bool {
	since, runs, further := w.since, 0, Further
	if w.use == Request {
		further = furtherRequests
	}
	for _, m := range group {
		if at := m.since(); !at.IsZero() {
			runs++
			since = later(since, at)
		}
	}
	starts := len(group) - runs
	return len(group) > 0 && (starts >= runs || time.Since(since) < further)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// grant returns the Pod for an invocation; nil = it must wait.
func (p *Pool) grant(w *waiter) *Member {
	group := p.shared(w)
	for _, m := range group {
		if m.fits(w.use) {
			m.enter(w.use)
			return m
		}
	}
	if enough(w, group) {
		return nil
	}
	if p.used >= p.limit {
		p.makeRoom(w.group)
		return nil
	}
	m := &Member{Name: w.name, group: w.group, started: make(chan struct{}), dead: w.use == Own}
	if w.use == Own {
		m.group = ""
	}
	m.enter(w.use)
	p.used++
	p.members = append(p.members, m)
	w.fresh = true
	return m
}

// makeRoom removes an idle Pod of another group, if none is being removed.
func (p *Pool) makeRoom(group string) {
	if p.leaving > 0 {
		return
	}
	i := slices.IndexFunc(p.members, func(m *Member) bool {
		return m.requests == 0 && !m.process && !m.dead && m.group != group
	})
	if i >= 0 {
		p.leave(p.members[i])
	}
}

// leave removes a Pod.
func (p *Pool) leave(m *Member) {
	if p.drop(m) {
		p.leaving++
		p.remove(m)
	}
}

// Free notes that a Pod was removed.
func (p *Pool) Free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaving--
	p.free()
}

// free notes that there is a Pod less.
func (p *Pool) free() {
	p.used--
	p.limit = min(p.most, p.limit+1)
	close(p.freed)
	p.freed = make(chan struct{})
	p.dispatch()
}

// Leave ends the use of a Pod. A Pod that gets no further invocations is removed after its last one.
func (p *Pool) Leave(m *Member, u Use) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if u == Process {
		m.process = false
	} else {
		m.requests--
	}
	if m.dead && m.requests == 0 && !m.process {
		p.leave(m)
	}
	p.dispatch()
}

// End lets no further invocation use a Pod.
func (p *Pool) End(m *Member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.dead = true
}

// Drop forgets a Pod that does not exist any more, could not be started, or must stay.
func (p *Pool) Drop(m *Member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drop(m) {
		p.free()
	}
}

// Refused forgets a Pod for which a quota had no room. Until one ends, no more are made than there are.
func (p *Pool) Refused(m *Member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drop(m) {
		p.used--
	}
	p.limit = max(p.used, 1)
	p.dispatch()
}

// Freed returns a channel that is closed when there is a Pod less than now.
func (p *Pool) Freed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.freed
}

// Used returns how many Pods there are.
func (p *Pool) Used() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// drop reports whether the Pod was there.
func (p *Pool) drop(m *Member) bool {
	i := slices.Index(p.members, m)
	if i < 0 {
		return false
	}
	p.members = slices.Delete(p.members, i, i+1)
	m.dead = true
	return true
}

// Idle takes all Pods out in which nothing runs.
func (p *Pool) Idle() []*Member {
	p.mu.Lock()
	defer p.mu.Unlock()
	var idle []*Member
	for _, m := range slices.Clone(p.members) {
		if m.requests == 0 && !m.process {
			p.drop(m)
			idle = append(idle, m)
		}
	}
	return idle
}
