package pool

import (
	"sync"
	"time"
)

// Use is how an invocation uses a Pod.
type Use int

// The uses: a Pod of its own, a request to a worker, or a process in addition to the workers, one at a time.
const (
	Own Use = iota
	Request
	Process
)

// Member is a Pod, from the decision that it is made on.
type Member struct {
	Name string
	UID  string // of the Pod, once it was created; set before Begin

	group    string // "" = it belongs to one invocation
	requests int
	process  bool
	dead     bool // it gets no further invocations

	started chan struct{} // closed when it runs, or when it could not be started
	err     error         // why it could not be started; set before started is closed

	mu   sync.Mutex
	why  func() string // why it does not run yet, as it is shown; nil = that is not known
	runs time.Time     // since when it runs; zero = it does not yet
}

// Say notes why the Pod does not run yet.
func (m *Member) Say(why func() string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.why = why
}

// Why returns why the Pod does not run yet.
func (m *Member) Why() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.why == nil {
		return ""
	}
	return m.why()
}

// Started returns a channel that is closed when the Pod runs, or when it could not be started.
func (m *Member) Started() <-chan struct{} { return m.started }

// Err returns why the Pod could not be started. It may be called after Started.
func (m *Member) Err() error { return m.err }

// Begin notes that the Pod runs, or why it could not be started.
func (m *Member) Begin(err error) {
	m.err = err
	if err == nil {
		m.mu.Lock()
		m.runs = time.Now()
		m.mu.Unlock()
	}
	close(m.started)
}

// since returns since when the Pod runs; zero = it does not yet.
func (m *Member) since() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.runs
}

func (m *Member) fits(u Use) bool {
	if u == Process {
		return !m.process
	}
	return m.requests < mostRequests
}

func (m *Member) enter(u Use) {
	switch u {
	case Process:
		m.process = true
	default:
		m.requests++
	}
}
