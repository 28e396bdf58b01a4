package unsettled

import (
	"context"
	"time"

	"deployster/internal/base/diag"
	"deployster/state"
	"deployster/state/actions"
	"deployster/state/moves"
)

// IsOperation reports whether an unsettled key is of an operation.
func IsOperation(key string) bool {
	_, operation := moves.OperationAt(key)
	return operation != ""
}

// ended reports whether a run of an operation does not run any more, on a machine that can be queried. Nothing waits for one that
// still runs.
func (f Finder) ended(ctx context.Context, s state.Snapshot, key string, a actions.Attempt) bool {
	if Elsewhere(f.Place, s, key) {
		return false
	}
	runs, err := f.on(s, key).Running(ctx, a.Key)
	return err == nil && !runs
}

// warnOperation warns that it is not known how a run of an operation ended: only its next run waits for that.
func (f Finder) warnOperation(ctx context.Context, s state.Snapshot, key string, a actions.Attempt) {
	addr, _ := moves.OperationAt(key)
	why := "how it ended is not known"
	if runs, err := f.on(s, key).Running(ctx, a.Key); err == nil && runs {
		why = "it still runs"
	}
	d := diag.Warningf("The outcome of an operation is unknown", "%s started the operation %q of %s at %s, and did not see its end: "+
		"%s. It "+
		"is not run again before that is known, and nothing else waits for it. If you know its outcome: `deployster resolve -as=done "+
		"'%s'`, or -as=failed.", s.Unsettled[key].By, a.Action, addr, a.Started.Format(time.RFC3339), why, key)
	d.Address = addr
	f.Command.Work.Warn(d)
}
