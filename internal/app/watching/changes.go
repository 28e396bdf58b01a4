package watching

import (
	"context"
	"time"

	"deployster/internal/app/repairs"
	"deployster/state"
)

// marked returns the mark of the state of a source, or the last one if its place does not answer.
func (w *watcher) marked(s *repairs.Source) string {
	w.looked = time.Now()
	mark, err := s.Place.Mark(context.Background()) // Mark limits its own time
	if err != nil {
		return w.mark
	}
	return mark
}

// changedElsewhere reports whether another command has changed the state, or hosts that were
// lost may answer now. During a repair no other command changes it.
func (w *watcher) changedElsewhere() bool {
	if !w.stateMu.TryLock() {
		return false
	}
	defer w.stateMu.Unlock()
	return w.engine.HostsLost() && time.Since(w.read) > hostsAgain || w.changedFrom(w.mark)
}

// changedSince reports whether the state is another than that with a mark.
func (w *watcher) changedSince(mark string) bool {
	if !w.stateMu.TryLock() {
		return false
	}
	defer w.stateMu.Unlock()
	return w.changedFrom(mark)
}

// changedFrom reports whether the state has another mark now. It queries a store less often
// than it reads a file.
func (w *watcher) changedFrom(mark string) bool {
	if w.shared() && time.Since(w.looked) < lookEvery {
		return false
	}
	return w.marked(w.current.source) != mark
}

// markNow returns the present mark of the state.
func (w *watcher) markNow() string {
	w.stateMu.Lock()
	defer w.stateMu.Unlock()
	return w.marked(w.current.source)
}

// How a watch shares a state in a store with other commands. A command that waits for the
// state checks it every five seconds, and must find it free between two repairs.
const (
	lookEvery = 5 * time.Second
	leftFree  = 6 * time.Second
)

// hostsAgain is the time after which unreachable hosts are tried again.
const hostsAgain = 5 * time.Minute

// shared reports whether the state is in a store.
func (w *watcher) shared() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, is := w.current.source.Place.(*state.Remote)
	return is
}
