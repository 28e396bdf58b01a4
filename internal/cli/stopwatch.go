package cli

import (
	"sync"
	"time"

	"deployster/apply"
	"deployster/internal/runner/typeclient"
	"deployster/plan"
)

// stopwatch remembers how long each resource took in an apply.
type stopwatch struct {
	mu   sync.Mutex
	took map[string]time.Duration
}

func (w *stopwatch) applying(e apply.Event) {
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

func (w *stopwatch) planning(plan.Event)  {}
func (w *stopwatch) line(typeclient.Line) {}
