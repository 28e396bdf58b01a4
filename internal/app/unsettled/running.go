package unsettled

import (
	"context"

	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/state"
	"deployster/state/actions"
)

// StillRunning returns the keys of the actions of a state that run right now: their
// command runs, or it was killed and their containers still run. It queries only this machine,
// which connect returns. An action whose state cannot be found out counts as not running.
func StillRunning(ctx context.Context, w *workspace.Workspace, connect func() (*router.Places, error), s state.Snapshot) map[string]bool {
	running := map[string]bool{}
	for _, addr := range s.Unknown() {
		u := s.Unsettled[addr]
		for _, a := range u.Open() {
			running[a.Key] = u.By.Running() || outlives(ctx, w, connect, s, addr, a)
		}
	}
	return running
}

// outlives reports whether an action of a command that was killed still runs here.
func outlives(ctx context.Context, w *workspace.Workspace, connect func() (*router.Places, error), s state.Snapshot, addr string,
	a actions.Attempt) bool {
	if s.Host(addr) != nil || !workspace.ActsHere(w.Options, s.Unsettled[addr].By) {
		return false
	}
	at, err := connect()
	if err != nil {
		return false
	}
	runs, err := Finder{Places: at}.on(s, addr).Running(ctx, a.Key)
	return err == nil && runs
}

// Ended returns how an action ended, as far as deployster can find it out: a person may state it only otherwise.
func (f Finder) Ended(ctx context.Context, s state.Snapshot, addr string, a actions.Attempt) (runs bool, out runner.Outcome, err error) {
	runs, err = f.on(s, addr).Running(ctx, a.Key)
	if diag.Is[*runner.HostError](err) && ctx.Err() == nil {
		return false, runner.Outcome{Fate: runner.Unknown}, nil // its machine is unreachable, and may be lost for good
	}
	if err != nil || runs {
		return runs, out, err
	}
	out, err = f.outcome(ctx, s, addr, a, runner.Watch{})
	switch {
	case ctx.Err() != nil:
		return false, out, context.Cause(ctx)
	case err != nil:
		out.Fate = runner.Unknown // apply cannot find it out either
	}
	return false, out, nil
}
