package parallel

import (
	"runtime"
	"sync"
	"time"
)

// Pool keeps idle goroutines. The zero value is ready to use; it is safe for concurrent use. It
// need not be closed: the goroutines end when nothing refers to their runner any more.
type Pool struct{ idle sync.Pool }

// runner is one goroutine. The goroutine refers only to the channels, so that the runner
// itself can be collected when it is unused, which ends the goroutine.
type runner struct {
	work chan func()
	done chan struct{} // receives one value for each function that ended
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

// RunOrAbandon runs f and waits until it ends. Meanwhile it calls wait at the given
// interval; when wait returns false, RunOrAbandon returns and f continues in its goroutine.
// The caller may read what f has written only if ended is true.
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
