package watchclient

import (
	"sync"
	"time"
)

// The limits of a process's output.
const (
	lineRate   = 1000             // lines a second
	lineBurst  = 5000             // lines at once
	floodPause = time.Second      // a longer pause ends a flood; also the delay before changed is called for skipped lines
	floodMost  = 10 * time.Second // a flood that lasts longer ends the process
)

// meter counts lines.
type meter struct {
	mu     sync.Mutex
	left   float64
	at     time.Time
	credit int       // extra lines allowed: the first of each resource
	since  time.Time // when the flood began
	last   time.Time // when a line was last skipped
}

// expect allows one more line: the first one of a resource.
func (m *meter) expect() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.credit++
}

// line counts one line, and reports whether the caller may read it. The error reports that
// lines exceeded the rate for too long.
func (m *meter) line(now time.Time) (read bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at.IsZero() {
		m.left = lineBurst
	} else {
		m.left = min(lineBurst, m.left+now.Sub(m.at).Seconds()*lineRate)
	}
	m.at = now
	switch {
	case m.credit > 0:
		m.credit--
		return true, nil
	case m.left >= 1:
		m.left--
		return true, nil
	case m.last.IsZero() || now.Sub(m.last) > floodPause:
		m.since = now
	}
	if m.last = now; now.Sub(m.since) > floodMost {
		return false, ErrFlooding
	}
	return false, nil
}
