package protocol

import (
	"io"
	"sync"

	"deployster/protocol/internal/jsonvalue"
)

// replies writes the replies of a worker to its stdout, as they come, and in batches
// when they come faster.
type replies struct {
	to    io.Writer
	ended chan struct{} // closed when all is written

	mu      sync.Mutex
	changed *sync.Cond
	waiting []byte
	closed  bool
	lost    error // a write to stdout failed
}

func newReplies(to io.Writer) *replies {
	r := &replies{to: to, ended: make(chan struct{})}
	r.changed = sync.NewCond(&r.mu)
	go r.serve()
	return r
}

// add sends a reply. It waits while too many bytes are unsent.
func (r *replies) add(reply WorkerReply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.waiting) > workerReplies && r.lost == nil {
		r.changed.Wait()
	}
	if r.lost != nil {
		return
	}
	line, err := jsonvalue.Encode(reply)
	if err != nil {
		r.lost = err
	} else {
		r.waiting = append(append(r.waiting, line...), '\n')
	}
	r.changed.Broadcast()
}

func (r *replies) serve() {
	defer close(r.ended)
	var spare []byte
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		for len(r.waiting) == 0 && !r.closed && r.lost == nil {
			r.changed.Wait()
		}
		if len(r.waiting) == 0 || r.lost != nil {
			return
		}
		lines := r.waiting
		r.waiting = spare
		r.mu.Unlock()
		_, err := r.to.Write(lines)
		r.mu.Lock()
		spare, r.lost = lines[:0], err
		r.changed.Broadcast()
	}
}

// end waits until everything is written, and returns the error of a write that failed.
func (r *replies) end() error {
	r.mu.Lock()
	r.closed = true
	r.changed.Broadcast()
	r.mu.Unlock()
	<-r.ended
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}
