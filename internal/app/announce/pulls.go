package announce

import (
	"fmt"
	"sync"
	"time"

	"deployster/internal/base/words"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/ui/events"
)

// Pulls records for which pulls events were sent. Its zero value is ready.
type Pulls struct {
	mu   sync.Mutex
	last map[string]time.Time // reference -> time of the last event
}

// pullEvery is how often the progress of a download is sent.
const pullEvery = time.Second

// Event returns the event to send now, if any.
func (t *Pulls) Event(p imagestore.Progress, now time.Time) (events.Event, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, begun := t.last[p.Reference]
	e := events.Event{Level: events.Info, Message: fmt.Sprintf("Pulling %s: %s", p.Reference, p.Phase),
		Body: events.Pull{Image: p.Reference, Phase: string(p.Phase), Done: p.Done, Total: p.Total}}
	switch p.Phase {
	case imagestore.Downloading:
		if begun && now.Sub(last) < pullEvery {
			return e, false
		}
		if t.last == nil {
			t.last = map[string]time.Time{}
		}
		t.last[p.Reference] = now
		e.Message = fmt.Sprintf("Pulling %s: %s of %s", p.Reference, words.Bytes(p.Done), words.Bytes(p.Total))
		return e, true
	case imagestore.Retrying:
		e.Level = events.Warning
		e.Message = fmt.Sprintf("Pulling %s: %s. Trying again in %s", p.Reference, p.Reason, p.Pause)
		return e, true
	case imagestore.Done, imagestore.Failed:
		delete(t.last, p.Reference)
		return e, begun || p.Phase == imagestore.Failed
	}
	return e, false
}
