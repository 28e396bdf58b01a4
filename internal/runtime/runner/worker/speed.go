package worker

import "time"

const (
	// A group starts another worker when one has slowOpen requests, the oldest of them
	// has been open for slowAfter, and a new one would wait for slowWait: on a busy
	// machine a start takes as long, and takes this time from the requests.
	slowOpen  = 4
	slowAfter = 50 * time.Millisecond
	slowWait  = 200 * time.Millisecond
)

// speed measures how many requests a worker completes.
type speed struct {
	since time.Time // when the measurement began
	done  int       // requests completed since then
	rate  float64   // requests per second, before since; 0 = not measured
}

// at returns the rate at the time now.
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
