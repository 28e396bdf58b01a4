package terminal

import (
	"deployster/apply"
	"deployster/internal/runner/typeclient"
	"deployster/plan"
)

// watcher is told what goes on while a plan is made and carried out: as it
// happens, from many goroutines. It must not keep them waiting. To show more, be
// one more watcher of the UI.
type watcher interface {
	Planning(plan.Event)
	Applying(apply.Event)
	Line(typeclient.Line) // what an image prints
}

// watchers passes everything on, in their order.
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
