package cli

import (
	"deployster/apply"
	"deployster/internal/runner/typeclient"
	"deployster/plan"
)

// watcher is told what goes on while a plan is made and carried out: as it
// happens, from many goroutines. It must not keep them waiting. To see more, be
// one more watcher of the session: see session.client.
type watcher interface {
	planning(plan.Event)
	applying(apply.Event)
	line(typeclient.Line) // what an image prints
}

// watchers passes everything on, in their order.
type watchers []watcher

func (ws watchers) planning(e plan.Event) {
	for _, w := range ws {
		w.planning(e)
	}
}

func (ws watchers) applying(e apply.Event) {
	for _, w := range ws {
		w.applying(e)
	}
}

func (ws watchers) line(l typeclient.Line) {
	for _, w := range ws {
		w.line(l)
	}
}
