package parallel

import (
	"runtime"
	"sync"
	"time"
)

// Pool keeps goroutines that have nothing to do. The zero value is ready; it is
// safe for concurrent use. It needs no end: they go when nobody has it any more.
type Pool struct{ idle sync.Pool }

// runner is one goroutine. It knows the channels only, so that the runner itself
// can be collected when nobody wants it any more, and ends it then.
type runner struct {
	work chan func()
	done chan struct{} // gets one for each work that ended
	tick *time.Timer
}

func newRunner(every time.Duration) *runner {
	r := &runner{work: make(chan func()), done: make(chan struct{}, 1), tick: time.NewTimer(every)}
	go serve(r.work, r.done)
	runtime.AddCleanup(r, func(work chan func()) { close(work) }, r.work)
	return r
}

func serve(work <-chan func(), done chan<- struct{}) {
	for f := range work {
		f()
		done <- struct{}{}
	}
}

// RunOrAbandon runs f and waits for its end. As long as that does not come it asks again
// and again, at an interval, whether to wait on; when the answer is no, f is left
// behind, and it is not ended. What f has written may be read only when it has.
func (p *Pool) RunOrAbandon(f func(), every time.Duration, wait func() bool) (ended bool) {
	r, _ := p.idle.Get().(*runner)
	if r == nil {
		r = newRunner(every)
	} else {
		r.tick.Reset(every)
	}
	defer r.tick.Stop()
	r.work <- f
	for {
		select {
		case <-r.done:
			p.idle.Put(r)
			return true
		case <-r.tick.C:
			if !wait() {
				return false
			}
			r.tick.Reset(every)
		}
	}
}
