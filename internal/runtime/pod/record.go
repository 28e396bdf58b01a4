package pod

import (
	"io"
	"sync"

	"deployster/internal/runtime/runner"
)

// again is how many bytes of an action's output an adopter always gets from the beginning. Of more
// output it gets the end.
const again = 4 << 20

// record keeps what an action prints on one stream, for those who follow it and for its outcome. It is
// an io.Writer that never fails. It waits for followers that have not read what it would forget.
type record struct {
	mu        sync.Mutex
	changed   *sync.Cond
	window    []byte // the last bytes
	from      int64  // offset of the window
	log       *runner.Log
	ended     bool
	following map[*follower]bool
}

// follower reads a record.
type follower struct{ at int64 }

// newRecord returns a record whose outcome has keep bytes.
func newRecord(keep int64) *record {
	r := &record{log: runner.NewLog(keep), following: map[*follower]bool{}}
	r.changed = sync.NewCond(&r.mu)
	return r
}

// Write implements io.Writer.
func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = r.log.Write(p) // never fails
	r.window = append(r.window, p...)
	r.changed.Broadcast()
	if len(r.window) > again*5/4 {
		left := len(r.window) - again
		for r.behind(r.from + int64(left)) {
			r.changed.Wait()
		}
		r.window = append(make([]byte, 0, again*5/4), r.window[left:]...)
		r.from += int64(left)
	}
	return len(p), nil
}

// behind reports whether a follower has not read up to an offset.
func (r *record) behind(at int64) bool {
	for f := range r.following {
		if f.at < at {
			return true
		}
	}
	return false
}

// end reports that nothing more is printed.
func (r *record) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	r.changed.Broadcast()
}

// kept returns what the outcome has of the stream.
func (r *record) kept() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Bytes()
}

// join adds a follower, for which the record waits from now on. The caller must call follow.
func (r *record) join() *follower {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := &follower{at: r.from}
	r.following[f] = true
	return f
}

// follow copies the record for a follower until its end, until to fails, or until done is closed.
func (r *record) follow(f *follower, to io.Writer, done <-chan struct{}) {
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-done:
			r.mu.Lock()
			defer r.mu.Unlock()
			r.changed.Broadcast()
		case <-over:
		}
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		delete(r.following, f)
		r.changed.Broadcast()
	}()
	for {
		for f.at == r.from+int64(len(r.window)) && !r.ended && !closed(done) {
			r.changed.Wait()
		}
		part := r.window[f.at-r.from:]
		if len(part) == 0 || closed(done) {
			return
		}
		part = append([]byte(nil), part[:min(len(part), 64<<10)]...)
		r.mu.Unlock()
		_, err := to.Write(part)
		r.mu.Lock()
		if err != nil {
			return
		}
		f.at += int64(len(part))
		r.changed.Broadcast()
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
