package turns

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"deployster/internal/runtime/runner"
	"deployster/plan"
)

// BatchOf returns the key of the resources whose actions may come in one batch with those of a step; ""
// = each of its actions goes alone.
func BatchOf(step *plan.Step) string {
	if step.Init.Batch == nil || step.Settings.Workers == runner.NoWorkers {
		return ""
	}
	spec := runner.Spec{Mounts: step.Mounts, Settings: step.Settings}
	key, _ := spec.GroupKey([]string{step.Type, step.Init.Digest}) // "" with an error
	return key
}

// lull is how long a batch waits for further members after the last one has joined.
const lull = 200 * time.Millisecond

// Batches gathers actions that one worker carries out together. A group is the resources with one
// worker, plugs, settings and host. One batch of a group runs at a time. It is safe for concurrent use.
type Batches struct {
	mu     sync.Mutex
	groups map[string]*batchGroup
}

// batchGroup is the resources of a group that are in progress.
type batchGroup struct {
	queried int // resources that may still join
	open    *Batch
	running bool // a batch was closed and has not ended
	single  bool // the end of a member is unknown: further members run one after the other
	next    chan struct{}
}

// Batch is the members of a batch. nil is an action that is carried out alone.
type Batch struct {
	group   *batchGroup
	all     *Batches
	action  string
	max     int
	members int           // that have joined and were not withdrawn
	waiting int           // members whose start is not recorded yet
	ended   int           // members that have ended
	joined  time.Time     // when the last one has joined
	closed  chan struct{} // closed when no more members join
	ready   chan struct{} // closed when the start of each member is recorded, or the member withdrawn
	led     bool          // Begin was called
	request *runner.Batch // set before ready is closed; nil = there is one member
}

// NewBatches returns Batches without members.
func NewBatches() *Batches { return &Batches{groups: map[string]*batchGroup{}} }

// Enter notes that a resource of a group is in progress, so that a batch waits for it for a
// moment. The caller calls leave when the resource cannot join any more, or never will.
func (b *Batches) Enter(group string) (leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.group(group)
	g.queried++
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		g.queried--
		g.settle()
	})
}

func (b *Batches) group(key string) *batchGroup {
	g := b.groups[key]
	if g == nil {
		g = &batchGroup{next: make(chan struct{})}
		b.groups[key] = g
	}
	return g
}

// Join adds a resource to the batch of an action, waits until the batch is closed, and returns it.
// leave is what Enter returned. The result is nil if ctx ends first. The caller then calls Begin or
// Withdraw, and after Begin calls End.
func (b *Batches) Join(ctx context.Context, group, action string, most int, leave func()) *Batch {
	b.mu.Lock()
	g := b.group(group)
	for g.open != nil && (g.open.action != action || g.open.members >= g.limit(most)) {
		next := g.next
		b.mu.Unlock()
		select {
		case <-next:
		case <-ctx.Done():
			return nil
		}
		b.mu.Lock()
	}
	one := g.open
	if one == nil {
		one = &Batch{group: g, all: b, action: action, max: g.limit(most), closed: make(chan struct{}), ready: make(chan struct{})}
		g.open = one
	}
	one.members++
	one.waiting++
	one.joined = time.Now()
	b.mu.Unlock()
	leave()
	for {
		timer := time.NewTimer(lull)
		select {
		case <-one.closed:
			timer.Stop()
			return one
		case <-ctx.Done():
			timer.Stop()
			one.Withdraw()
			return nil
		case <-timer.C:
			b.mu.Lock()
			g.settle()
			b.mu.Unlock()
		}
	}
}

// limit returns how many members a batch may have.
func (g *batchGroup) limit(most int) int {
	if g.single {
		return 1
	}
	return most
}

// settle closes the open batch if no other one runs, and if it is full, no other resource may join
// or the last member joined some time ago. The caller must hold the lock.
func (g *batchGroup) settle() {
	one := g.open
	if one == nil || g.running || one.members == 0 {
		return
	}
	if g.queried == 0 || one.members >= one.max || time.Since(one.joined) >= lull {
		g.running, g.open = true, nil
		close(one.closed)
		close(g.next)
		g.next = make(chan struct{})
	}
}

// Withdraw removes a member that is not begun.
func (b *Batch) Withdraw() {
	if b == nil {
		return
	}
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	b.members--
	b.waiting--
	b.proceed()
}

// Begin notes that the start of a member is recorded, waits until that of all members is, and
// returns how the worker gets them; nil = there is no other member. One of the members leads.
func (b *Batch) Begin() (request *runner.Batch, leads bool) {
	if b == nil {
		return nil, false
	}
	b.all.mu.Lock()
	leads, b.led = !b.led, true
	b.waiting--
	b.proceed()
	b.all.mu.Unlock()
	<-b.ready
	return b.request, leads
}

// proceed lets the members begin if all are recorded, and the next batch if none is left. The
// caller must hold the lock.
func (b *Batch) proceed() {
	g := b.group
	select {
	case <-b.closed:
	default: // members may still join
		if g.open == b && b.members == 0 {
			g.open = nil
			close(g.next)
			g.next = make(chan struct{})
		}
		return
	}
	if b.waiting == 0 && b.request == nil && !b.isReady() {
		if b.members > 1 {
			b.request = &runner.Batch{ID: rand.Text(), Members: b.members}
		}
		close(b.ready)
	}
	if b.waiting == 0 && b.ended == b.members {
		g.running = false
		g.settle()
	}
}

func (b *Batch) isReady() bool {
	select {
	case <-b.ready:
		return true
	default:
		return false
	}
}

// End notes the end of a member that has begun. After an unknown end the group's further members
// run one after the other.
func (b *Batch) End(unknown bool) {
	if b == nil {
		return
	}
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	b.ended++
	b.group.single = b.group.single || unknown
	b.proceed()
}

// Size returns the number of members that have not been withdrawn.
func (b *Batch) Size() int {
	if b == nil {
		return 0
	}
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	return b.members
}
