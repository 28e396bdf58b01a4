package terminal

import (
	"deployster/apply"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
)

// watcher receives the events of plans and applies as they happen, from many goroutines.
// It must not block. To show more, add a watcher to the UI.
type watcher interface {
	Planning(plan.Event)
	Applying(apply.Event)
	Line(typeclient.Line) // a line that an image printed
	Waiting(typeclient.Waiting)
}

// watchers passes all events on to each watcher, in order.
type watchers []watcher

func (ws watchers) Planning(e plan.Event) {
	for _, w := range ws {
		w.Planning(e)
	}
}

func (ws watchers) Applying(e apply.Event) {
	for _, w := range ws {
		w.Applying(e)
	}
}

func (ws watchers) Line(l typeclient.Line) {
	for _, w := range ws {
		w.Line(l)
	}
}

func (ws watchers) Waiting(w typeclient.Waiting) {
	for _, watcher := range ws {
		watcher.Waiting(w)
	}
}
