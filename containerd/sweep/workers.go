package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/containerd/containerd/v2/core/containers"
	"golang.org/x/sys/unix"

	"deployster/containerd/runfiles"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/worker"
)

// A worker is a container whose program gets requests while it runs, and may carry out
// actions. Its open requests are in its ledger, and its answers in its stdout.

// collectWorker removes the worker, or the shared container, of a dead client if it has no open action, or has
// ended; otherwise it saves the outcomes that are known so far. Collect calls it with its
// lock held.
func (w Sweeper) collectWorker(ctx context.Context, c containers.Container) (gone bool, err error) {
	dir := w.FilesDir(c)
	open, err := runfiles.ReadLedger(dir)
	if err != nil {
		return false, err
	}
	if len(open) == 0 {
		return true, errors.Join(RemoveContainer(ctx, w.Client, c), os.RemoveAll(dir))
	}
	k, ended := w.Ended(ctx, c)
	switch {
	case !ended && IsShared(c):
		return false, nil // it ends with its action
	case !ended:
		return false, w.SaveOutcomes(dir, open, nil)
	}
	if err := w.endTask(ctx, c); err != nil {
		return false, err
	}
	if IsShared(c) {
		err = w.saveShared(dir, open, k)
	} else {
		err = w.SaveOutcomes(dir, open, &k)
	}
	if err != nil {
		return false, err
	}
	return true, w.removeEnded(ctx, c)
}

// SaveOutcomes saves the outcomes of a worker's open actions, as far as they are known;
// if the worker has ended, those of all.
func (w Sweeper) SaveOutcomes(dir string, open map[int64]runfiles.LedgerEntry, ended *runner.Outcome) error {
	said, err := replay(dir, open, ended == nil)
	if err != nil {
		return err
	}
	var settled []int64
	for request, a := range open {
		k, known := actionOutcome(said[request], ended)
		if !known {
			continue
		}
		if k.Fate == runner.Unknown {
			k.Stderr = append(k.Stderr, runfiles.ReadLog(filepath.Join(dir, runfiles.StderrFile), 0)...) // why the worker ended
		}
		if err := w.saveOutcome(a.Action, k); err != nil {
			return err
		}
		settled = append(settled, request)
	}
	return runfiles.SettleAbandoned(dir, settled)
}

// actionOutcome returns the outcome of an action, from its worker's answer and from how
// the worker itself ended; ended is nil while the worker runs.
func actionOutcome(said *worker.Output, ended *runner.Outcome) (k runner.Outcome, known bool) {
	if said != nil {
		k.Stdout, k.Stderr = said.Stdout.Bytes(), said.Stderr.Bytes()
	}
	switch {
	case said != nil && said.Exit != nil && said.Waits:
		k.Fate = runner.NotBegun
		return k, true
	case said != nil && said.Exit != nil:
		if k.Fate, k.ExitCode, k.Ended = runner.Exited, *said.Exit, time.Now(); ended != nil && !ended.Ended.IsZero() {
			k.Ended = ended.Ended
		}
		return k, true
	case ended == nil:
		return k, false
	case ended.Fate == runner.NotBegun, ended.Fate == runner.Exited && ended.ExitCode == 0 && said == nil:
		// A worker that ends well has answered all requests that reached it.
		k.Fate = runner.NotBegun
	case ended.Fate == runner.Unknown:
		k.Fate, k.Why = runner.Unknown, ended.Why
	case ended.OOM:
		k.Fate, k.Why = runner.Unknown, "the worker that ran it ran out of memory"
	default:
		k.Fate, k.Why = runner.Unknown, fmt.Sprintf("the worker that ran it ended with exit code %d before it reported the end of this "+
			"action",
			ended.ExitCode)
	}
	return k, true
}

// replay reads a worker's answers to its open actions. With trim it frees the beginning
// of a long output: that was read already, or is not needed to find the outcome of an
// action that has not ended.
func replay(dir string, open map[int64]runfiles.LedgerEntry, trim bool) (map[int64]*worker.Output, error) {
	f, err := os.OpenFile(filepath.Join(dir, runfiles.StdoutFile), os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	begin, err := unix.Seek(int(f.Fd()), 0, unix.SEEK_DATA)
	if err != nil {
		begin = 0 // the file is empty, or its file system does not support this
	}
	if _, err := f.Seek(begin, io.SeekStart); err != nil {
		return nil, err
	}
	said, n, err := worker.Replay(f, func(request int64) bool { _, wanted := open[request]; return wanted })
	if trim && begin+n > 2*runfiles.MaxBehind {
		for _, h := range said {
			if h.Exit != nil {
				return said, err // the answer must stay until it is saved
			}
		}
		runfiles.PunchHole(f, 0, (begin+n-runfiles.MaxBehind)&^4095)
	}
	return said, err
}

// Answered reports whether a worker, or the agent of a shared container, has reported how an action ended.
func (w Sweeper) Answered(c containers.Container, request int64) bool {
	if IsShared(c) {
		record, _, err := runfiles.ReadRecord(w.FilesDir(c), request)
		return err == nil && record.Exit != nil
	}
	said, err := replay(w.FilesDir(c), map[int64]runfiles.LedgerEntry{request: {}}, false)
	return err == nil && said[request] != nil && said[request].Exit != nil
}
