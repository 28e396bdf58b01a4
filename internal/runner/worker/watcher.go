package worker

import (
	"fmt"
	"io"
	"sync"
)

// maxBehind is how many bytes a watcher may be behind. What comes then is left
// out, and it is told how much.
const maxBehind = 1 << 20

// watcher hands on what an invocation says, from a goroutine of its own: one
// that is slow must not hold up the others that the same worker serves.
type watcher struct {
	to io.Writer

	mu     sync.Mutex
	queue  []byte
	left   int // bytes left out after the queue
	wake   chan struct{}
	closed bool
	idle   chan struct{} // closed when all is handed on
}

func newWatcher(to io.Writer) *watcher {
	w := &watcher{to: to, wake: make(chan struct{}, 1), idle: make(chan struct{})}
	go w.run()
	return w
}

func (w *watcher) add(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if room := maxBehind - len(w.queue); len(s) > room || w.left > 0 {
		w.left += len(s)
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
		if w.left > 0 {
			p = fmt.Appendf(p, "\n[... %d bytes left out ...]\n", w.left)
		}
		w.queue, w.left = nil, 0
		w.mu.Unlock()
		if len(p) > 0 && w.to != nil {
			if _, err := w.to.Write(p); err != nil {
				w.to = nil // it gets nothing more
			}
		}
		if closed {
			return
		}
	}
}

// finish waits until all is handed on.
func (w *watcher) finish() {
	w.mu.Lock()
	w.closed = true
	w.signal()
	w.mu.Unlock()
	<-w.idle
}
