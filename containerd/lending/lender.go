package lending

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrNone reports that a Maker has nothing that was kept.
var ErrNone = errors.New("none was kept")

// Maker makes a thing, or takes one that was kept, which takes no time. keptOnly: it makes none.
type Maker[T any] func(keptOnly bool) (made T, kept bool, err error)

// Terms are the terms of a Lender.
type Terms struct {
	Most       int             // objects at a time
	Processors int             // of the machine
	Losses     int             // of objects that failed, after which nothing is lent any more
	Takes      time.Duration   // how long making one takes, until that is known
	Patience   time.Duration   // nothing is made for somebody who has waited for less
	Coming     int             // loans that are expected; 0 = unknown
	Worth      int             // expected loans for which one is made at once
	Go         func(do func()) // runs something in the background of a borrower
}

// Lender lends objects. It must be made with New.
type Lender[T any] struct {
	terms Terms

	mu      sync.Mutex
	idle    []T // the last one was returned last
	waiting []*borrower[T]
	count   int // lent, idle, or being made
	making  int
	coming  int           // loans that are still expected
	drained bool          // nothing that was kept is left
	made    time.Time     // when the last attempt to make one ended
	takes   time.Duration // how long making one takes
	behind  time.Duration // how long somebody has waited since then
	since   time.Time     // since when somebody waits
	lost    int
}

// borrower is a caller that waits.
type borrower[T any] struct {
	maker Maker[T]
	came  time.Time
	got   chan answer[T] // has room for one
}

// answer is what a borrower gets: a thing, or nothing.
type answer[T any] struct {
	thing T
	ok    bool
}

// New makes a Lender.
func New[T any](t Terms) *Lender[T] { return &Lender[T]{terms: t, takes: t.Takes, coming: t.Coming} }

// Borrow returns a thing that nobody else has until it is returned or dropped; false = nothing can be lent. What is
// made meanwhile may be lent to others, after the end of the context too.
func (l *Lender[T]) Borrow(ctx context.Context, m Maker[T]) (thing T, ok bool) {
	b := &borrower[T]{maker: m, came: time.Now(), got: make(chan answer[T], 1)}
	l.mu.Lock()
	l.coming--
	switch n := len(l.idle); {
	case n > 0:
		thing, l.idle = l.idle[n-1], l.idle[:n-1]
		l.mu.Unlock()
		return thing, true
	case l.lost >= l.terms.Losses:
		l.mu.Unlock()
		return thing, false
	}
	if len(l.waiting) == 0 {
		l.since = time.Now()
	}
	l.waiting = append(l.waiting, b)
	l.grow()
	l.mu.Unlock()
	tick := time.NewTicker(l.terms.Patience)
	defer tick.Stop()
	for {
		select {
		case a := <-b.got:
			return a.thing, a.ok
		case <-tick.C:
			l.mu.Lock()
			l.grow()
			l.mu.Unlock()
		case <-ctx.Done():
			return l.leave(b)
		}
	}
}

// leave takes a borrower out of the queue, who may have been served in that moment.
func (l *Lender[T]) leave(b *borrower[T]) (thing T, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, b); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		l.queued()
		return thing, false
	}
	a := <-b.got
	return a.thing, a.ok
}

// Return takes a thing back that can be lent again.
func (l *Lender[T]) Return(thing T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.give(thing)
}

// Drop forgets a thing that was lent. lost: that was a failure of it.
func (l *Lender[T]) Drop(lost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count--
	if lost {
		l.lost++
	}
	l.grow()
}

// Take lends all objects that are idle.
func (l *Lender[T]) Take() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	idle := l.idle
	l.idle = nil
	return idle
}

// give lends a thing to who has waited longest, or keeps it.
func (l *Lender[T]) give(thing T) {
	if !l.answer(answer[T]{thing, true}) {
		l.idle = append(l.idle, thing)
	}
}

// answer answers who has waited longest; false = nobody waits.
func (l *Lender[T]) answer(a answer[T]) bool {
	if len(l.waiting) == 0 {
		return false
	}
	l.waiting[0].got <- a
	l.waiting = l.waiting[1:]
	l.queued()
	return true
}

// queued counts the time in which somebody has waited, when nobody does any more.
func (l *Lender[T]) queued() {
	if len(l.waiting) == 0 {
		l.behind += time.Since(l.since)
	}
}

// grow makes another thing, if one is needed.
func (l *Lender[T]) grow() {
	few := l.count < l.terms.Processors
	atOnce := few && len(l.waiting) > l.making && l.coming+len(l.waiting) >= (l.count+1)*l.terms.Worth
	if len(l.waiting) == 0 || l.making > 0 && !atOnce {
		return
	}
	if l.lost >= l.terms.Losses && l.count == 0 {
		for l.answer(answer[T]{}) {
		}
		return
	}
	if l.lost >= l.terms.Losses || l.count >= l.terms.Most {
		return
	}
	first := l.waiting[0]
	needed := l.count == 0 || atOnce || l.waits(few) >= max(l.terms.Patience, l.takes)
	if !needed && (!few || l.drained) {
		return
	}
	l.making++
	l.count++
	l.terms.Go(func() { l.make(first.maker, !needed) })
}

// waits returns for how long it was waited for another thing.
func (l *Lender[T]) waits(few bool) time.Duration {
	if few {
		return l.behind + time.Since(l.since)
	}
	return min(time.Since(l.waiting[0].came), time.Since(l.made))
}

// make makes a thing and gives it to who has waited longest.
func (l *Lender[T]) make(m Maker[T], keptOnly bool) {
	start := time.Now()
	thing, kept, err := m(keptOnly)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.making--
	if l.drained = l.drained || !kept; errors.Is(err, ErrNone) {
		l.count--
		l.grow()
		return
	}
	l.made, l.behind, l.since = time.Now(), 0, time.Now()
	if err != nil {
		l.count--
		l.lost++
		l.answer(answer[T]{}) // its own attempt shows why
		l.grow()
		return
	}
	if !kept {
		l.takes = time.Since(start)
	}
	l.give(thing)
	l.grow()
}
