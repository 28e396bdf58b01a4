package terminal

import (
	"sync"
	"time"

	"deployster/apply"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
)

// stopwatch records how long each resource took in an apply.
type stopwatch struct {
	mu   sync.Mutex
	took map[string]time.Duration
}

func (w *stopwatch) Applying(e apply.Event) {
	ended, ok := e.(apply.ResourceEnded)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.took == nil {
		w.took = map[string]time.Duration{}
	}
	w.took[ended.Address] = ended.Took
}

func (w *stopwatch) Planning(plan.Event)        {}
func (w *stopwatch) Line(typeclient.Line)       {}
func (w *stopwatch) Waiting(typeclient.Waiting) {}

// all returns how long each resource took.
func (w *stopwatch) all() map[string]time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.took
}
