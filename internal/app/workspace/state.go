package workspace

import (
	"context"
	"errors"
	"strings"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/base/secret"
	"deployster/internal/base/sharedlog"
	"deployster/internal/base/words"
	"deployster/plan/observe"
	"deployster/state"
	"deployster/state/actions"
	stateplace "deployster/state/place"
)

// StatePlace returns the place of the state: that of the options, or else of the
// manifest, which may be nil, or else DefaultState.
func (w *Workspace) StatePlace(m *config.Manifest) state.Place {
	if w.State != "" {
		return w.Place(w.State)
	}
	if m != nil {
		if path := m.Settings().StatePath; path != "" {
			return w.Place(path)
		}
	}
	return w.Place(DefaultState)
}

// StatePlaceAround is StatePlace for commands that only work on the state: if the
// manifests of the workspace name a state, it is that one.
func (w *Workspace) StatePlaceAround() state.Place { return w.StatePlace(w.UseKeys()) }

// StateOptions returns how a command opens the state.
func (w *Workspace) StateOptions(command string) state.Options {
	return state.Options{Command: "deployster " + command, Author: Author(w.Env), Keys: w.Keys, Kept: w.Kept, Wait: w.LockTimeout,
		Waiting: func(who string) {
			w.Note("The state is in use by %s. Waiting for at most %s.", who, w.LockTimeout)
		}, Ended: func(who string) {
			w.Note("Ended %s: it held the state before and could still act on this machine. Its actions continue.", who)
		}}
}

// OpenState opens a state for a command that changes it, and warns of what an earlier
// command has left behind.
func (w *Workspace) OpenState(ctx context.Context, place state.Place, command string) (*state.Store, error) {
	return OpenStateWith(ctx, w, place, w.StateOptions(command))
}

func OpenStateWith(ctx context.Context, w *Workspace, place state.Place, o state.Options) (*state.Store, error) {
	o.Machine = machine(w.Options)
	store, err := state.Open(ctx, place, o)
	if repairs(w, err, &o) {
		store, err = state.Open(ctx, place, o)
	}
	if err == nil {
		if r := store.Recovery(); r != nil {
			w.Warn(r.Warning())
		}
		w.Diagnostics(store.Warnings())
	}
	return store, err
}

// HoldState reads a state, and locks it against changes until it is closed, unless NoLock
// is set.
func (w *Workspace) HoldState(ctx context.Context, place state.Place, command string) (*state.Shared, error) {
	if w.NoLock {
		snapshot, recovery, err := state.Load(place, w.Keys)
		return &state.Shared{Snapshot: snapshot, Recovery: recovery}, err
	}
	o := w.StateOptions(command)
	held, err := state.ReadShared(ctx, place, o)
	if repairs(w, err, &o) {
		held, err = state.ReadShared(ctx, place, o)
	}
	return held, err
}

// repairPatience is how long a command of a person waits for a repair by a watch.
const repairPatience = 30 * time.Second

// repairs reports whether a watch holds the state, whose repair is soon done, and sets
// the options to wait for it.
func repairs(w *Workspace, err error, o *state.Options) bool {
	if w.LockTimeout > 0 || o.Command == actions.WatchCommand || heldBy(err) != actions.WatchCommand {
		return false
	}
	o.Wait, o.Waiting = repairPatience, func(who string) { w.Note("%s repairs. Waiting for at most %s.", who, repairPatience) }
	return true
}

// heldBy returns the command that holds a state, from the error that reports that it is locked; "" = unknown.
func heldBy(err error) string {
	if locked, ok := errors.AsType[*durable.LockedError](err); ok && locked.Holder != nil {
		return locked.Holder.Command
	}
	if held, ok := errors.AsType[*sharedlog.HeldError](err); ok {
		return held.View.Tip.By.Command
	}
	return ""
}

// ReadState reads a state for commands that take no lock.
func (w *Workspace) ReadState(ctx context.Context, place state.Place) (state.Snapshot, error) {
	snapshot, recovery, err := state.Load(place, w.Keys)
	if err != nil || recovery == nil {
		return snapshot, err
	}
	// What reads like an apply that was killed may be one in progress.
	if who, inUse := stateplace.InUse(place); inUse {
		w.Note("An apply is in progress (%s); showing what it has recorded so far.", who)
		return snapshot, nil
	}
	w.Warn(recovery.Warning())
	return snapshot, nil
}

// Hide notes the secrets in a state, for commands that show it.
func Hide(w *Workspace, s state.Snapshot) {
	for _, entry := range s.Resources {
		w.Secrets.Add(observe.SecretsOf(entry))
	}
	for _, a := range s.Artifacts {
		w.Secrets.Add(a.Secrets())
	}
	for _, o := range s.Outputs {
		if o.Sensitive {
			w.Secrets.Add(secret.Values(o.Value, []string{""}))
		}
	}
}

// WarnClear warns of files in clear text next to an encrypted state.
func (w *Workspace) WarnClear(place state.Place) {
	files := stateplace.Clear(place)
	if len(files) == 0 {
		return
	}
	w.Warn(diag.Warningf("Earlier states are in clear text",
		"The state is encrypted, and %s next to it not: %s. `deployster state reencrypt` encrypts the copies; files that were moved "+
			"aside are yours to delete.",
		words.Count(len(files), "file"), strings.Join(files, ", ")))
}

// WarnUnreliable warns of a place on which a lock may hold on one machine only.
func (w *Workspace) WarnUnreliable(place state.Place) {
	if warning := stateplace.Unreliable(place); warning != nil {
		w.Warn(warning)
	}
}
