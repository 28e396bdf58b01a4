package states

import (
	"context"

	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/state"
)

// Recorded reads the state for a command that shows it. If there is no state, it prints a
// note; if the user named a state, that is an error.
func Recorded(ctx context.Context, w *workspace.Workspace) (state.Snapshot, error) {
	place := w.StatePlaceAround()
	snapshot, err := w.ReadState(ctx, place)
	if err != nil || snapshot.Lineage != "" {
		workspace.Hide(w, snapshot)
		return snapshot, err
	}
	if w.State != "" {
		return snapshot, NoState(place)
	}
	w.Note("There is no state file at %s.", place)
	return snapshot, nil
}

// NoState returns the error for a state that is named or needed, but does not exist.
func NoState(place state.Place) error {
	return diag.Errorf("No state file", "There is no state file at %s.", place)
}
