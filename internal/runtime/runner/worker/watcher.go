package worker

import (
	"io"
	"sync"

	"deployster/internal/base/loglines"
)

// maxQueue is how many bytes may wait for a watcher. Further ones are dropped, and the
// watcher gets a line with their number.
const maxQueue = 1 << 20

// watcher passes on the output of an invocation in its own goroutine: a slow writer
// must not delay the other invocations of the same worker.
type watcher struct {
	to io.Writer

	mu      sync.Mutex
	queue   []byte
	dropped int // bytes dropped after those in the queue
	wake    chan struct{}
	closed  bool
	idle    chan struct{} // closed when all output is passed on
}

func newWatcher(to io.Writer) *watcher {
	w := &watcher{to: to, wake: make(chan struct{}, 1), idle: make(chan struct{})}
	go w.run()
	return w
}

func (w *watcher) add(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if free := maxQueue - len(w.queue); len(s) > free || w.dropped > 0 {
		w.dropped += len(s)
	} else {
		w.queue = append(w.queue, s...)
	}
	w.signal()
}

func (w *watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watcher) run() {
	defer close(w.idle)
	for range w.wake {
		w.mu.Lock()
		p, closed := w.queue, w.closed
		if w.dropped > 0 {
			p = append(p, loglines.Gap(int64(w.dropped))...)
		}
		w.queue, w.dropped = nil, 0
		w.mu.Unlock()
		if len(p) > 0 && w.to != nil {
			if _, err := w.to.Write(p); err != nil {
				w.to = nil
			}
		}
		if closed {
			return
		}
	}
}

// finish waits until all output is passed on.
func (w *watcher) finish() {
	w.mu.Lock()
	w.closed = true
	w.signal()
	w.mu.Unlock()
	<-w.idle
}
