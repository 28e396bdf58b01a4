package terminal

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"deployster/apply"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
)

// heartbeatEvery is how often a waiting user is shown what still runs.
const heartbeatEvery = 10 * time.Second

// heartbeat records what is running, and prints it when it takes long: nobody should
// think that deployster hangs.
type heartbeat struct {
	mu    sync.Mutex
	since map[string]time.Time // running step -> when it began
	done  chan struct{}
}

// startHeartbeat calls say at an interval with what has been running that long.
func startHeartbeat(every time.Duration, say func(string)) *heartbeat {
	h := &heartbeat{since: map[string]time.Time{}, done: make(chan struct{})}
	ticker := time.NewTicker(every)
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-h.done:
				return
			case now := <-ticker.C:
				if line := h.waiting(now, every); line != "" {
					say(line)
				}
			}
		}
	}()
	return h
}

// stop stops the heartbeat.
func (h *heartbeat) stop() { close(h.done) }

// waiting lists what has been running for at least that long, "" when nothing has.
func (h *heartbeat) waiting(now time.Time, atLeast time.Duration) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var slow []string
	for what, since := range h.since {
		if took := now.Sub(since); took >= atLeast-time.Second {
			slow = append(slow, fmt.Sprintf("%s (%s)", what, took.Round(time.Second)))
		}
	}
	if len(slow) == 0 {
		return ""
	}
	slices.Sort(slow)
	return "still running: " + words.List(slow, 5)
}

func (h *heartbeat) begin(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.since[what] = time.Now()
}

func (h *heartbeat) end(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.since, what)
}

// Planning implements watcher: it records reads of states.
func (h *heartbeat) Planning(e plan.Event) {
	switch e := e.(type) {
	case plan.Asking:
		h.begin(e.Address + " state")
	case plan.Decided:
		h.end(e.Address + " state")
	case plan.Failed:
		h.end(e.Address + " state")
	}
}

// Line implements watcher. It does nothing: an image that prints may still take long.
func (h *heartbeat) Line(typeclient.Line) {}

// Waiting implements watcher. It does nothing: a step that waits is one that still runs.
func (h *heartbeat) Waiting(typeclient.Waiting) {}

// Applying implements watcher: it records reads of states and actions.
func (h *heartbeat) Applying(e apply.Event) {
	switch e := e.(type) {
	case apply.Checking:
		h.begin(e.Address + " state")
	case apply.ActionStarted:
		h.end(e.Address + " state")
		h.begin(e.Address + " " + e.Action)
	case apply.ActionEnded:
		h.end(e.Address + " " + e.Action)
	case apply.ResourceEnded:
		h.end(e.Address + " state")
	}
}
