package notifying

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/ui/events"
)

// Limits of the delivery.
const (
	Patience = 8 * time.Second         // of the end of a run, for all that was not sent; what still runs is then killed
	Farewell = 1500 * time.Millisecond // further, until that has ended
	OneHour  = time.Hour               // how long a watch tries to send one event
	most     = 1000                    // events that wait for one block; of more the oldest are dropped

	firstPause = time.Second // before the second try; each later one is twice as long
	maxPause   = 5 * time.Minute
)

// Message is one notification: an event, and the same for people. Secrets are masked in it.
type Message struct {
	Event   json.RawMessage
	Summary string
}

// Sender sends messages by the images of notify blocks.
type Sender interface {
	// Prepare fetches an image and checks its config, so that a send takes less time.
	Prepare(ctx context.Context, n config.Notify) error
	Send(ctx context.Context, n config.Notify, m Message) error
}

// Options are what an Outbox works with.
type Options struct {
	For    time.Duration              // how long an event is tried; 0 = until the end of the run
	Where  string                     // what sends, for people: the command and its directory
	Hiding func() func(string) string // hides the secrets that are known now; its result may be nil
	Warn   func(*diag.Diagnostic)
}

// Outbox sends events to the images of notify blocks. It is safe for concurrent use, and no method
// but Close waits for an image.
type Outbox struct {
	o   Options
	ctx context.Context // of all sends
	end context.CancelFunc

	mu    sync.Mutex
	boxes map[string]*box // by the name of the block
	all   []*box          // with those of blocks that were changed since
}

// New returns an Outbox. It must be closed. The values of ctx are used, not its end.
func New(ctx context.Context, o Options) *Outbox {
	b := &Outbox{o: o, boxes: map[string]*box{}}
	b.ctx, b.end = context.WithCancel(context.WithoutCancel(ctx))
	return b
}

// Use sets the notify blocks that get later events, and who sends those. What waits for earlier
// blocks is still sent.
func (b *Outbox) Use(sender Sender, list []config.Notify) {
	b.mu.Lock()
	defer b.mu.Unlock()
	next := map[string]*box{}
	for _, n := range list {
		if old := b.boxes[n.Name]; old != nil && same(old.n, n) {
			next[n.Name] = old
			continue
		}
		ctx, end := context.WithCancel(b.ctx)
		one := newBox(b.o, sender, n, end)
		next[n.Name], b.all = one, append(b.all, one)
		go one.run(ctx)
	}
	for name, old := range b.boxes {
		if next[name] != old {
			old.close()
		}
	}
	b.boxes, b.all = next, slices.DeleteFunc(b.all, (*box).over)
}

// same reports whether two blocks are alike, wherever they are in their file.
func same(a, b config.Notify) bool {
	a.Range, b.Range = diag.Range{}, diag.Range{}
	one, err := json.Marshal(a)
	two, other := json.Marshal(b)
	return err == nil && other == nil && string(one) == string(two)
}

// Offer has an event sent to the blocks that want it.
func (b *Outbox) Offer(e events.Event) {
	name := NameOf(e)
	if name == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.boxes {
		if slices.Contains(one.n.On, name) {
			one.put(e, time.Now())
		}
	}
}

// Close sends what waits, for at most Patience, and warns of what was not sent. abort ends it early.
func (b *Outbox) Close(abort <-chan struct{}) {
	b.mu.Lock()
	all := b.all
	b.all, b.boxes = nil, map[string]*box{}
	b.mu.Unlock()
	for _, one := range all {
		one.close()
	}
	all = slices.DeleteFunc(all, (*box).empty) // nobody waits for an image that gets ready for nothing
	wait(all, time.After(Patience), abort)
	b.end()
	wait(all, time.After(Farewell), nil)
	for _, one := range all {
		one.leave()
	}
}

// wait waits until all boxes are empty, or a time or an interrupt.
func wait(all []*box, most <-chan time.Time, abort <-chan struct{}) {
	for _, one := range all {
		select {
		case <-one.done:
		case <-most:
			return
		case <-abort:
			return
		}
	}
}
