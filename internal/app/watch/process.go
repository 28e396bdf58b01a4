package watch

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Why the process that watches a resource is ended.
var (
	errLate  = errors.New("it did not report within a minute that it watches")
	errLies  = errors.New("it did not report what polls found")
	errEnded = errors.New("it has ended")
)

// process watches one resource forever: when its program ends it is started again.
type process struct {
	addr    string
	stop    context.CancelFunc
	current atomic.Pointer[context.CancelCauseFunc] // ends the program that runs
}

// watch starts to watch a resource.
func (w *watcher) watch(ctx context.Context, source Source, addr string) *process {
	ctx, stop := context.WithCancel(ctx)
	p := &process{addr: addr, stop: stop}
	w.running.Go(func() { p.run(ctx, source, w.mail) })
	return p
}

// unwatch ends the process of an item.
func (w *watcher) unwatch(it *item) {
	if it.process != nil {
		it.process.stop()
		it.process, it.live, it.busy = nil, false, false
	}
}

// restart ends the running program, so that it is started again.
func (p *process) restart() {
	if end := p.current.Load(); end != nil {
		(*end)(errLies)
	}
}

func (p *process) run(ctx context.Context, source Source, mail *mailbox) {
	polled := false
	for failures := 1; ; failures++ {
		began := time.Now()
		err := p.once(ctx, source, mail)
		if time.Since(began) > startMost || errors.Is(err, ErrAnew) {
			failures = 1
		}
		wait := about(pause(failures, startFirst, startMost))
		if ctx.Err() != nil {
			return
		}
		again := polled
		if polled = errors.Is(err, ErrPolled); polled {
			wait = about(startMost)
		}
		if !again || !polled {
			mail.add(p, func(n *note) { n.turned, n.live, n.busy, n.err, n.restart = true, false, new(bool), err, wait })
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// once watches until the program ends, or is ended.
func (p *process) once(ctx context.Context, source Source, mail *mailbox) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	p.current.Store(&end)
	late := time.AfterFunc(firstLine, func() { end(errLate) })
	defer late.Stop()
	err := source.Watch(ctx, p.addr, func(e SourceEvent) {
		if e.First {
			late.Stop()
		}
		mail.add(p, func(n *note) { n.take(e) })
	})
	if err == nil {
		err = errEnded
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return err
}

// note is everything that a process has reported since it was last read.
type note struct {
	turned, live bool // it has started to watch or has ended; whether it watches now
	dirty        bool
	busy         *bool
	detail       string
	err          error         // why it has ended
	restart      time.Duration // until it is started again
}

func (n *note) take(e SourceEvent) {
	if e.First {
		n.turned, n.live = true, true
	} else if e.Busy == nil || e.Detail != "" {
		n.dirty = true
	}
	if e.Busy != nil {
		n.busy = e.Busy
	}
	if e.Detail != "" {
		n.detail = e.Detail
	}
}

// mailbox has at most one note for each process, however many events it reports.
type mailbox struct {
	wake  chan struct{}
	mu    sync.Mutex
	notes map[*process]*note // guarded by mu
}

// add changes the note of a process. It never blocks.
func (m *mailbox) add(p *process, write func(*note)) {
	m.mu.Lock()
	n := m.notes[p]
	if n == nil {
		n = &note{}
		m.notes[p] = n
	}
	write(n)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// empty returns all notes, and removes them.
func (m *mailbox) empty() map[*process]*note {
	m.mu.Lock()
	defer m.mu.Unlock()
	notes := m.notes
	m.notes = map[*process]*note{}
	return notes
}

// read handles what processes have reported.
func (w *watcher) read() {
	now := w.now()
	for p, n := range w.mail.empty() {
		it := w.items[p.addr]
		if it == nil || it.process != p {
			continue
		}
		if n.busy != nil {
			it.busy = *n.busy
		}
		if n.detail != "" {
			it.detail = n.detail
		}
		if n.turned {
			it.live = n.live
			w.tell(Process{Address: p.addr, Running: n.live, Err: n.err, Restart: n.restart})
		}
		switch {
		case n.dirty:
			it.suspect = min(it.suspect, now)
			w.look(it, now, ByEvent)
		case n.turned && n.live: // something may have happened before
			w.look(it, now+within(spread), ByEvent)
		case n.turned && !it.looking && it.Alone > 0:
			it.due = min(it.due, now+about(it.Alone))
		}
		w.placed(it)
	}
}
