package containerd

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

	"deployster/internal/runner"
	"deployster/internal/runner/worker"
)

// A carrier is the container of a program that is spoken to, and that may carry
// out actions: a worker. What it was asked for is in its ledger, and what it
// said about it in its stdout.

// collectCarrier removes the carrier of a dead client when it carries no action
// out, or when it has ended; else it keeps what is known by now. It is called as
// collect is, with its lock.
func (w sweeper) collectCarrier(ctx context.Context, c containers.Container) (gone bool, err error) {
	dir := w.stdio(c)
	open, err := readLedger(dir)
	if err != nil {
		return false, err
	}
	if len(open) == 0 {
		return true, errors.Join(removeContainer(ctx, w.client, c), os.RemoveAll(dir))
	}
	k, ended := w.ended(ctx, c)
	if !ended {
		return false, w.harvest(dir, open, nil)
	}
	if err := w.endTask(ctx, c); err != nil {
		return false, err
	}
	if err := w.harvest(dir, open, &k); err != nil {
		return false, err
	}
	return true, w.removeEnded(ctx, c)
}

// harvest keeps how the open actions of a carrier ended, of those of which that
// is known; of an ended carrier, of all.
func (w sweeper) harvest(dir string, open map[int64]asked, ended *kept) error {
	said, err := replay(dir, open, ended == nil)
	if err != nil {
		return err
	}
	var settled []int64
	for request, a := range open {
		k, known := carried(said[request], ended)
		if !known {
			continue
		}
		k.Name = a.Name
		if k.Fate == runner.Unknown {
			k.Stderr = append(k.Stderr, readLog(filepath.Join(dir, stderrFile))...) // why the carrier ended
		}
		// One that is there was saved by somebody who died over it.
		if _, there, err := w.outcomes.load(a.Action); err != nil || !there {
			if err = errors.Join(err, w.outcomes.save(a.Action, k)); err != nil {
				return err
			}
		}
		settled = append(settled, request)
	}
	return settle(dir, settled)
}

// carried is how an action ended, by what its carrier has said about it and by
// how that has ended itself; ended is nil while it runs.
func carried(said *worker.Output, ended *kept) (k kept, known bool) {
	if said != nil {
		k.Stdout, k.Stderr = said.Stdout.Bytes(), said.Stderr.Bytes()
	}
	switch {
	case said != nil && said.Exit != nil:
		if k.Fate, k.Code, k.Ended = runner.Exited, *said.Exit, time.Now(); ended != nil && !ended.Ended.IsZero() {
			k.Ended = ended.Ended
		}
		return k, true
	case ended == nil:
		return k, false
	case ended.Fate == runner.NotBegun, ended.Fate == runner.Exited && ended.Code == 0 && said == nil:
		// One that ends well has answered all that came to it.
		k.Fate = runner.NotBegun
	case ended.Fate == runner.Unknown:
		k.Fate, k.Why = runner.Unknown, ended.Why
	case ended.OOM:
		k.Fate, k.Why = runner.Unknown, "the worker that carried it out ran out of memory"
	default:
		k.Fate, k.Why = runner.Unknown, fmt.Sprintf("the worker that carried it out ended with exit code %d before it said how this ended", ended.Code)
	}
	return k, true
}

// replay reads what a carrier has said about its open actions. Of what is long
// the begin is given up: it was read, or is not needed for knowing how an action
// ended that has not ended.
func replay(dir string, open map[int64]asked, trim bool) (map[int64]*worker.Output, error) {
	f, err := os.OpenFile(filepath.Join(dir, stdoutFile), os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	begin, err := unix.Seek(int(f.Fd()), 0, unix.SEEK_DATA)
	if err != nil {
		begin = 0 // there are no data, or its file system does not say where
	}
	if _, err := f.Seek(begin, io.SeekStart); err != nil {
		return nil, err
	}
	said, n, err := worker.Replay(f, func(request int64) bool { _, wanted := open[request]; return wanted })
	if trim && begin+n > 2*maxBehind {
		for _, h := range said {
			if h.Exit != nil {
				return said, err // it is there until it is saved
			}
		}
		empty(f, 0, (begin+n-maxBehind)&^4095)
	}
	return said, err
}

// answered reports whether a carrier has said how an action ended.
func (w sweeper) answered(c containers.Container, request int64) bool {
	said, err := replay(w.stdio(c), map[int64]asked{request: {}}, false)
	return err == nil && said[request] != nil && said[request].Exit != nil
}

// leave keeps how the actions ended that were asked of a program which has
// ended, and whose end nobody has taken down.
func (u *run) leave(res runner.Result) error {
	open, err := readLedger(u.io.dir)
	if err != nil || len(open) == 0 {
		return err
	}
	return u.r.sweeper().harvest(u.io.dir, open, &kept{Fate: runner.Exited, Code: res.ExitCode, OOM: res.OOM, Ended: time.Now()})
}
