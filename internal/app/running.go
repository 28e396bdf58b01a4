package app

import (
	"context"

	"deployster/internal/app/workspace"
	"deployster/state"
	"deployster/state/actions"
)

// StillRunning returns the keys of the actions of a state that run right now: their
// command runs, or it was killed and their containers still run. It asks only this
// machine. An action whose state cannot be found out counts as not running.
func StillRunning(ctx context.Context, e *Engine, s state.Snapshot) map[string]bool {
	running := map[string]bool{}
	for _, addr := range s.Unknown() {
		u := s.Unsettled[addr]
		for _, a := range u.Open() {
			running[a.Key] = u.By.Running() || outlives(ctx, e, s, addr, a)
		}
	}
	return running
}

// outlives reports whether an action of a command that was killed still runs here.
func outlives(ctx context.Context, e *Engine, s state.Snapshot, addr string, a actions.Attempt) bool {
	if s.Resources[addr].Settings.Host != nil || !workspace.ActsHere(e.Options, s.Unsettled[addr].By) {
		return false
	}
	if _, err := e.Runtime(ctx); err != nil {
		return false
	}
	runs, err := on(e, s, addr).Running(ctx, a.Key)
	return err == nil && runs
}
