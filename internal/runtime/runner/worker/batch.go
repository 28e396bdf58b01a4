package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// gathering is how long the members of a batch that have arrived wait for the others.
const gathering = 10 * time.Second

// errStopped is the reason why a member ends when another one of its batch is stopped.
var errStopped = errors.New("another resource of its batch was stopped, and a batch is stopped as a whole")

// batch is the members of a runner.Batch that have arrived.
type batch struct {
	missing int           // members that have not arrived; guarded by the Pool's lock, as members
	members []*member     // in the order of their arrival
	full    chan struct{} // closed when no more members are expected
	sent    chan struct{} // closed when the members were written to a worker, or could not be
	alone   sync.Mutex    // held by a member that runs in a container of its own
}

// member is one invocation of a batch.
type member struct {
	spec   runner.Spec
	start  time.Time
	worker *worker // that got it; nil = none could be started
	id     int64
	q      *request
	err    error // why it was not written to the worker
}

// sent is a batch that was written to a worker. nil stands for a request that was sent alone.
type sent struct {
	once    sync.Once
	stopped chan struct{} // closed when a member is stopped
}

// stop stops the other members of the batch.
func (s *sent) stop() {
	if s != nil {
		s.once.Do(func() { close(s.stopped) })
	}
}

// stopping returns the channel that is closed when another member is stopped.
func (s *sent) stopping() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.stopped
}

// runMember carries out a member of a batch. Without a worker the members run in containers of
// their own, one after the other.
func (p *Pool) runMember(ctx context.Context, g *group, s runner.Spec) (runner.Result, error) {
	b, m, first := p.arrive(s)
	if first {
		go p.gather(ctx, g, s.Batch.ID, b)
	}
	<-b.sent
	switch {
	case m.worker == nil && m.err == nil:
		b.alone.Lock()
		defer b.alone.Unlock()
		return p.runCold(ctx, s)
	case m.worker == nil:
		return runner.Result{}, m.err
	case m.err != nil:
		return m.worker.finish(m.id, m.q, runner.Result{Duration: time.Since(m.start)}, false, m.err)
	}
	late := time.NewTimer(1 << 62)
	if m.spec.Timeout > 0 {
		late.Reset(m.spec.Timeout)
	}
	defer late.Stop()
	res, err := m.worker.await(ctx, m.id, m.q, late)
	res.Duration = time.Since(m.start)
	return m.worker.finish(m.id, m.q, res, !m.worker.neverBegun(m.q), err)
}

// arrive adds a member to its batch, and reports whether it is the first one.
func (p *Pool) arrive(s runner.Spec) (b *batch, m *member, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b = p.batches[s.Batch.ID]
	if first = b == nil; first {
		b = &batch{missing: s.Batch.Members, full: make(chan struct{}), sent: make(chan struct{})}
		p.batches[s.Batch.ID] = b
	}
	m = &member{spec: s, start: time.Now()}
	b.members = append(b.members, m)
	if b.missing--; b.missing == 0 {
		delete(p.batches, s.Batch.ID)
		close(b.full)
	}
	return b, m, first
}

// gather waits for the members of a batch and writes them to a worker in one line. ctx is that of
// the first member: the members of a batch belong to one command.
func (p *Pool) gather(ctx context.Context, g *group, id string, b *batch) {
	defer close(b.sent)
	limit := time.NewTimer(gathering)
	defer limit.Stop()
	select {
	case <-b.full:
	case <-limit.C:
	case <-ctx.Done():
	}
	p.mu.Lock()
	if p.batches[id] == b {
		delete(p.batches, id) // a later member is a batch of its own
	}
	members := b.members
	p.mu.Unlock()
	if ctx.Err() != nil {
		for _, m := range members {
			m.err = cancelled(ctx, m.spec)
		}
		return
	}
	timeout := time.Duration(0) // the sum of all: the worker carries them out together
	for _, m := range members {
		timeout += m.spec.Timeout
	}
	for _, m := range members {
		if m.spec.Timeout > 0 {
			m.spec.Timeout = timeout
		}
	}
	for {
		w := p.take(ctx, g)
		if w == nil || w.requestAll(ctx, members) {
			return
		}
	}
}

// requestAll writes the members of a batch to the worker. It reports false, and nothing is begun,
// if the worker accepts no more requests.
func (w *worker) requestAll(ctx context.Context, members []*member) bool {
	together := &sent{stopped: make(chan struct{})}
	var one protocol.WorkerRequest
	var asked []*member
	for _, m := range members {
		m.q = newRequest(m.spec)
		m.q.batch = together
	}
	if !w.addAll(members) {
		return false
	}
	for _, m := range members {
		if _, m.err = w.prepare(m.id, m.q); m.err != nil {
			w.withdraw(m.id, m.q, false)
			continue
		}
		asked = append(asked, m)
		one.Batch = append(one.Batch, requestOf(m.id, m.spec))
	}
	if len(asked) == 0 {
		return true
	}
	line, err := jsondoc.Encode(one)
	if err == nil {
		err = w.writeLine(ctx, append(line, '\n'))
	}
	if err != nil {
		for _, m := range asked {
			m.err = fmt.Errorf("%s was not begun: %w", m.spec.Name, err)
			w.withdraw(m.id, m.q, false)
		}
	}
	return true
}

// addAll adds the requests of a batch, or none if the worker accepts no more.
func (w *worker) addAll(members []*member) bool {
	for i, m := range members {
		id, ok := w.add(m.q)
		if !ok {
			for _, added := range members[:i] {
				w.withdraw(added.id, added.q, false)
				_ = w.actionEnded(added.id, added.q, true) // the worker is ending, and never got it
			}
			return false
		}
		m.id = id
	}
	for _, m := range members {
		m.worker = w
	}
	return true
}

// writeLine passes a line to the worker's stdin.
func (w *worker) writeLine(ctx context.Context, line []byte) error {
	select {
	case w.outgoing <- line:
		return nil
	case <-w.ended:
		return w.endErr
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// endedWell reports whether the program has ended by itself, with exit code 0. The caller must hold the lock.
func (w *worker) endedWell() bool {
	select {
	case <-w.ended:
		died, ok := errors.AsType[*runner.WorkerError](w.endErr)
		return ok && died.Well
	default:
		return false
	}
}
