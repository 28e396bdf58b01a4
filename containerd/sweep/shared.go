package sweep

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/containerd/containerd/v2/core/containers"

	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/internal/runtime/runner"
)

// A shared container carries out actions one after the other. Its open action is in its ledger, like those
// of a worker, and has a directory of its own, in which the agent has recorded what became of it.

// IsShared reports whether actions share a container.
func IsShared(c containers.Container) bool { return c.Labels[layout.LabelWorker] == layout.Shared }

// saveShared saves the outcomes of the open actions of a shared container that has ended.
func (w Sweeper) saveShared(dir string, open map[int64]runfiles.LedgerEntry, ended runner.Outcome) error {
	var settled []int64
	for request, a := range open {
		k, err := sharedOutcome(dir, request, ended)
		if err == nil {
			err = w.saveOutcome(a.Action, k)
		}
		if err != nil {
			return err
		}
		settled = append(settled, request)
	}
	return runfiles.SettleAbandoned(dir, settled)
}

// sharedOutcome returns the outcome of an action, from what its agent has recorded and from how the container
// itself ended.
func sharedOutcome(dir string, request int64, ended runner.Outcome) (k runner.Outcome, err error) {
	record, there, err := runfiles.ReadRecord(dir, request)
	if err != nil {
		return k, err
	}
	files := runfiles.ActionDir(dir, request)
	k.Stdout = runfiles.ReadLog(filepath.Join(files, runfiles.StdoutFile), runner.KeepOutcome)
	k.Stderr = runfiles.ReadLog(filepath.Join(files, runfiles.StderrFile), 0)
	switch {
	case record.Exit != nil:
		k.Fate, k.ExitCode, k.Ended, k.OOM = runner.Exited, *record.Exit, ended.Ended, ended.OOM && *record.Exit != 0
		if k.Ended.IsZero() {
			k.Ended = time.Now()
		}
	case there && !record.Begun:
		// The agent records the begin before it starts a program, and it has ended.
		k.Fate = runner.NotBegun
	case !there:
		k.Fate, k.Why = runner.Unknown, "its record is gone"
	case ended.OOM:
		k.Fate, k.Why = runner.Unknown, "the container that it shared ran out of memory"
	case ended.Fate == runner.Unknown:
		k.Fate, k.Why = runner.Unknown, ended.Why
	default:
		k.Fate, k.Why = runner.Unknown, fmt.Sprintf("the container that it shared ended with exit code %d before the end of this action "+
			"was recorded", ended.ExitCode)
	}
	return k, nil
}

// saveOutcome saves the outcome of an action, unless a process did so that was killed before it settled the action.
func (w Sweeper) saveOutcome(action string, k runner.Outcome) error {
	_, there, err := w.Outcomes.Load(action)
	if err == nil && there {
		return nil
	}
	return errors.Join(err, w.Outcomes.Save(action, k))
}
