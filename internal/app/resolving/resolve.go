package resolving

import (
	"context"
	"slices"
	"time"

	"deployster/config"
	"deployster/internal/app"
	"deployster/internal/app/stateedit"
	"deployster/internal/app/unsettled"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/state"
	"deployster/state/actions"
	"deployster/state/moves"
)

// Resolve records how an action of a resource ended, as a person states it: for an action
// whose end deployster cannot find out. With dryRun it only returns what it would record.
func Resolve(ctx context.Context, e *app.Engine, address string, as actions.Verdict, dryRun bool) (stateedit.StateEdit, error) {
	addr, err := keyOf(address)
	if err != nil {
		return stateedit.StateEdit{}, err
	}
	place := e.Workspace.StatePlaceAround()
	return stateedit.NewEditor(e.Workspace, dryRun).Edit(ctx, "resolve",
		func(now state.Snapshot) (state.Snapshot, stateedit.StateEdit, error) {
			if !slices.Contains(now.Unexplained(), addr) {
				return now, stateedit.StateEdit{}, nothingOpen(now, addr)
			}
			machine, err := e.Machine(ctx)
			if err != nil {
				return now, stateedit.StateEdit{}, err
			}
			finder := unsettled.Finder{Command: e.Command(), Places: machine.Reader(now.Lineage), Place: place}
			defer finder.Places.Close()
			for _, a := range now.Unsettled[addr].Open() {
				if unsettled.Elsewhere(place, now, addr) {
					continue // only a person can know how it ended
				}
				if err := mustBeOpen(ctx, finder, now, addr, a); err != nil {
					return now, stateedit.StateEdit{}, err
				}
			}
			done := stateedit.StateEdit{Resolved: stateedit.OpenActions(now, as, addr)}
			return now.Judged(addr, as), done, nil
		})
}

// keyOf reads the address of a resource, or of an operation on one as the list shows it.
func keyOf(text string) (string, error) {
	on, operation := moves.OperationAt(text)
	addr, err := config.ParseAddress(on)
	if err == nil && operation != "" {
		addr = moves.OperationKey(addr, operation)
	}
	return addr, err
}

// mustBeOpen returns an error if deployster knows how an action ended, or can find out: a person may not state it then.
func mustBeOpen(ctx context.Context, f unsettled.Finder, s state.Snapshot, addr string, a actions.Attempt) error {
	runs, out, err := f.Ended(ctx, s, addr, a)
	switch {
	case err != nil:
		return err
	case runs:
		return errStillRuns(addr, a)
	case out.Fate == runner.Unknown:
		return nil
	case out.Fate == runner.Exited:
		return diag.Errorf("The outcome of the action is known",
			"%q of %s ended with exit code %d. The next `deployster apply` records that by itself. Nothing was changed.", a.Action, addr,
			out.ExitCode)
	}
	return diag.Errorf("The outcome of the action is known",
		"%q of %s had not begun. The next `deployster apply` records that by itself. Nothing was changed.", a.Action, addr)
}

// errStillRuns is the error for what is refused while an action runs.
func errStillRuns(addr string, a actions.Attempt) error {
	return diag.Errorf("An action still runs",
		"%q of %s was started at %s and has not ended. `deployster apply` waits for its end, and then reads the state. Nothing was "+
			"changed.", a.Action, addr, a.Started.Format(time.RFC3339))
}

// nothingOpen is the error for a resource that has no action with an unknown end.
func nothingOpen(now state.Snapshot, addr string) error {
	open := now.Unexplained()
	rest := "`deployster plan` reads its state."
	if len(open) > 0 {
		rest = "There are such actions of: " + words.All(open) + "." + words.DidYouMean(addr, open)
	}
	return diag.Errorf("Nothing to resolve", "No action of %s has an unknown outcome. %s Nothing was changed.", diag.Visible(addr),
		rest)
}

// StillRunning returns the keys of the actions of a state that run right now: their
// command runs, or it was killed and their containers still run. It queries only this
// machine. An action whose state cannot be found out counts as not running.
func StillRunning(ctx context.Context, e *app.Engine, s state.Snapshot) map[string]bool {
	return unsettled.StillRunning(ctx, e.Workspace, func() (*router.Places, error) {
		m, err := e.Machine(ctx)
		if err != nil {
			return nil, err
		}
		return m.Places, nil
	}, s)
}
