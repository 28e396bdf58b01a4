package notifying

import (
	"context"
	"strings"
	"sync"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/events"
)

// box has the events that wait for one notify block, and the goroutine that sends them.
type box struct {
	o       Options
	sender  Sender
	n       config.Notify
	end     context.CancelFunc
	wake    chan struct{} // has an element when there may be something to send
	closing chan struct{} // closed when no event follows
	done    chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex
	queue  []item
	lost   int   // events that were dropped or given up, and not reported yet
	why    error // of the last failure
	closed bool
}

// item is an event that waits.
type item struct {
	event events.Event
	at    time.Time
}

func newBox(o Options, s Sender, n config.Notify, end context.CancelFunc) *box {
	return &box{o: o, sender: s, n: n, end: end, wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{})}
}

// put adds an event.
func (b *box) put(e events.Event, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	if len(b.queue) >= most {
		b.queue, b.lost = b.queue[1:], b.lost+1
	}
	b.queue = append(b.queue, item{e, now})
	select {
	case b.wake <- struct{}{}:
	default: // it is woken already
	}
}

// close ends the box: no event follows.
func (b *box) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.closed = true
	if close(b.closing); len(b.queue) == 0 {
		b.end()
	}
}

// empty reports whether nothing waits.
func (b *box) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue)+b.lost == 0
}

// over reports whether the goroutine has ended.
func (b *box) over() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// first returns the event that waits longest.
func (b *box) first() (i item, ok, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return i, false, b.closed
	}
	return b.queue[0], true, b.closed
}

// run sends events until the box is closed and empty, or ctx ends.
func (b *box) run(ctx context.Context) {
	defer close(b.done)
	defer b.end()
	if err := b.sender.Prepare(ctx, b.n); err != nil {
		b.failed(err) // each send tries it again
	}
	for ctx.Err() == nil {
		i, ok, closed := b.first()
		switch {
		case ok:
			b.send(ctx, i)
		case closed:
			return
		default:
			select {
			case <-b.wake:
			case <-b.closing:
			case <-ctx.Done():
			}
		}
	}
}

// send sends the event that waits longest, and tries it again until that is too late.
func (b *box) send(ctx context.Context, i item) {
	closing := b.closing
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := b.try(ctx, i)
		if err == nil {
			b.sent(i)
			return
		}
		b.failed(err)
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-closing: // the run ends: the last chance of what waits for the end of a long pause
			closing, pause = nil, firstPause/2
		case <-ctx.Done():
		}
		wait.Stop()
		if ctx.Err() != nil {
			return // what waits is warned of by leave
		}
		if b.o.For > 0 && time.Since(i.at) > b.o.For {
			b.giveUp()
			return
		}
	}
}

// try sends an event once. Secrets are those that are known by now.
func (b *box) try(ctx context.Context, i item) error {
	hide := b.o.Hiding()
	line, err := events.Line(i.event, i.at, hide)
	if err != nil {
		return err
	}
	text := Summary(b.o.Where, i.event)
	if hide != nil {
		text = hide(text)
	}
	return b.sender.Send(ctx, b.n, Message{Event: line, Summary: diag.Visible(text)})
}

func (b *box) failed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.why = err
}

// sent removes an event that was sent, unless it was dropped before.
func (b *box) sent(i item) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) > 0 && b.queue[0].at.Equal(i.at) {
		b.queue = b.queue[1:]
	}
}

// giveUp warns of what has waited too long, once for all of it.
func (b *box) giveUp() {
	b.mu.Lock()
	for len(b.queue) > 0 && time.Since(b.queue[0].at) > b.o.For {
		b.queue, b.lost = b.queue[1:], b.lost+1
	}
	b.mu.Unlock()
	b.report()
}

// leave warns of all that was not sent, at the end of a run.
func (b *box) leave() {
	b.mu.Lock()
	b.lost, b.queue = b.lost+len(b.queue), nil
	b.mu.Unlock()
	b.report()
}

// report warns of what was not sent, if anything.
func (b *box) report() {
	b.mu.Lock()
	lost, why := b.lost, b.why
	b.lost = 0
	b.mu.Unlock()
	if lost == 0 {
		return
	}
	reason := "It did not answer in time."
	if list := diag.From("", why); why != nil && len(list) > 0 {
		reason = strings.TrimPrefix(strings.TrimSuffix(list[0].Summary, ".")+". "+list[0].Detail, ". ")
	}
	b.o.Warn(diag.Warningf("Not notified", "%s of notify.%s could not be sent. Nothing else is affected. %s",
		words.Count(lost, "notification"), b.n.Name, reason))
}
