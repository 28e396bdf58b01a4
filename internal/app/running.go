package app

import (
	"context"

	"deployster/internal/app/workspace"
	"deployster/state"
	"deployster/state/actions"
)

// StillRunning gives the keys of the actions of a state that run right now: their command
// is at work, or it has died and their containers live. Only this machine is asked. What
// cannot be found out is not in it.
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

// outlives reports whether an action still runs here whose command has died.
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
