package watching

import (
	"context"

	"deployster/internal/app"
	"deployster/internal/app/notifying"
	"deployster/internal/base/diag"
)

// newNotes returns what notifies the images of notify blocks; it knows none yet.
func (w *watcher) newNotes(ctx context.Context, e *app.Engine) *notifying.Outbox {
	return notifying.New(ctx, notifying.Options{For: notifying.OneHour, Where: "deployster watch in " + e.Workspace.Dir,
		Hiding: e.Workspace.Secrets.Hiding, Warn: e.Workspace.Warn})
}

// notify has the notify blocks of a generation get all later events.
func (w *watcher) notify(g *generation) {
	list := g.source.Manifest.Unattended().Notify()
	var sender notifying.Sender
	if len(list) > 0 {
		var err error
		if sender, err = notifying.NewSender(w.engine.Command, w.engine.Machine, g.source.Manifest); err != nil {
			w.engine.Command.Work.Warn(diag.Warningf("Not notified", "The blocks of before are used: %s", diag.From("", err)[0].Detail))
			return
		}
	}
	w.notes.Use(sender, list)
}
