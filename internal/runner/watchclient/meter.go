package watchclient

import (
	"sync"
	"time"
)

// How much a process may say.
const (
	lineRate   = 1000             // lines a second
	lineBurst  = 5000             // lines at once
	floodPause = time.Second      // after which a flood is another one; and between two times that all is told to have changed
	floodMost  = 10 * time.Second // after which the process is ended
)

// meter counts lines.
type meter struct {
	mu     sync.Mutex
	left   float64
	at     time.Time
	credit int       // lines beside: the first of each resource
	since  time.Time // when the flood began
	last   time.Time // of the lines that were too many
}

// expect allows one line more: the first one of a resource.
func (m *meter) expect() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.credit++
}

// line counts one, and reports whether it is to be read. The error says that there
// were too many for too long.
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
