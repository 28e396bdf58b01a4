package app

import (
	"context"
	"slices"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/app/notifying"
	"deployster/internal/base/diag"
	"deployster/internal/ui/events"
)

// teller notifies the images of notify blocks of the end of an apply.
type teller struct {
	engine *Engine
	where  string           // what ends, for people
	of     *config.Manifest // nil = it is not known yet
	outbox *notifying.Outbox
}

// waits reports whether images on this machine are notified at the end.
func (t *teller) waits() bool { return t.of != nil && len(t.of.Unattended().Notify()) > 0 }

// begin gets the images ready, while the apply runs.
func (t *teller) begin(ctx context.Context) {
	if !t.waits() || t.outbox != nil {
		return
	}
	e := t.engine
	machine, err := e.Machine(ctx)
	var sender notifying.Sender
	if err == nil {
		sender, err = notifying.NewSender(e.command, machine, t.of)
	}
	if err != nil {
		e.Workspace.Warn(diag.Warningf("Not notified", "No image is notified of how this ended: %s", diag.From("", err)[0].Detail))
		return
	}
	t.outbox = notifying.New(ctx, notifying.Options{Where: t.where, Hiding: e.Workspace.Secrets.Hiding,
		Warn: e.Workspace.Warn})
	t.outbox.Use(sender, t.of.Unattended().Notify())
}

// end reports how the apply ended, and takes no longer than the patience of package notifying.
func (t *teller) end(ctx context.Context, report *apply.Report) {
	if !t.waits() || report == nil {
		return
	}
	event := events.OfReport(report)
	wants := func(n config.Notify) bool { return slices.Contains(n.On, notifying.NameOf(event)) }
	if slices.ContainsFunc(t.of.Unattended().Notify(), wants) {
		ctx, end := context.WithTimeout(context.WithoutCancel(ctx), notifying.Patience)
		t.begin(ctx) // it ended before anything was approved
		end()
	}
	if t.outbox != nil {
		t.outbox.Offer(event)
		t.outbox.Close(t.engine.command.Abort)
	}
}
