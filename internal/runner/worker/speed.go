package worker

import "time"

const (
	// slowOpen is how many open invocations a worker has when another one is
	// started, if the oldest of them has been open for slowAfter and it answers so
	// slowly that a new one would wait for slowWait: that is what it takes to start
	// one when the processors are busy, and it takes their time from the answers.
	// What is slow in answering may also be this program, which has as many answers
	// to take as it can.
	slowOpen  = 4
	slowAfter = 50 * time.Millisecond
	slowWait  = 200 * time.Millisecond
)

// speed is how many invocations a worker gets done, as was seen lately.
type speed struct {
	since time.Time // it has had something to do since then
	done  int       // since then
	rate  float64   // in a second, of the time before since; 0 = nothing is known of that
}

// at gives it for a moment.
func (s *speed) at(now time.Time) float64 {
	if gone := now.Sub(s.since); gone >= slowAfter {
		s.since, s.done, s.rate = now, 0, float64(s.done)/gone.Seconds()
	}
	return s.rate
}

// slow reports whether another worker would help.
func (w *worker) slow() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.open) < slowOpen {
		return false
	}
	now := time.Now()
	if float64(len(w.open)) <= w.speed.at(now)*slowWait.Seconds() {
		return false
	}
	for _, q := range w.open {
		if now.Sub(q.since) >= slowAfter {
			return true
		}
	}
	return false
}
