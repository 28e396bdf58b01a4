package supervise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd/failure"
	"deployster/containerd/runfiles"
	"deployster/containerd/sandbox"
	"deployster/internal/runtime/runner"
)

// Supervisor waits for the end of a running program of any kind. It ends the program at
// its timeout, when its run is cancelled, when it prints too much, or when its files fill
// too much of the disk.
type Supervisor struct {
	Program   Program
	Spec      runner.Spec
	Files     *runfiles.Files
	Container string  // its id
	Kills     int     // out-of-memory kills before it
	Worker    *Worker // nil = it is not a worker
}

// ErrHandedOver reports that the program continues, and that this client does not hold it any more.
var ErrHandedOver = errors.New("it was handed over")

// Finish waits for the end of the program, and returns its result.
func (s *Supervisor) Finish(ctx context.Context, ended <-chan Exit, full <-chan *runner.DiskError) (res runner.Result, err error) {
	e, reason := s.await(ctx, ended, full)
	if reason == ErrHandedOver {
		return res, reason
	}
	if e.Err != nil {
		// Its outputs may be incomplete too.
		reason = failure.Join(reason, UnknownEnd(s.Container, e.Err))
	} else {
		res.ExitCode = e.Code
		res.OOM = sandbox.OOMKills(s.Container) > s.Kills
		reason = failure.Join(reason, s.Program.Delete(ctx, e.Code, reason == nil))
	}
	s.Files.Stdout.Finish()
	s.Files.Stderr.Finish()
	if s.Worker != nil {
		s.Worker.Tail.Finish()
	}
	more, err := s.collect(&res)
	if more && reason == nil {
		reason = &runner.OutputError{Limit: s.Spec.MaxStdout}
	}
	if err != nil {
		reason = failure.Join(reason, fmt.Errorf("reading what %s printed: %w", s.Spec.Name, err))
	}
	return res, reason
}

// collect adds the outputs to the result, and reports whether stdout exceeded its limit.
func (s *Supervisor) collect(res *runner.Result) (more bool, err error) {
	var err1, err2 error
	if s.Worker != nil {
		res.Stderr, err = s.Files.Stderr.Log(s.Spec.KeepLog)
		return false, err
	}
	if s.Spec.Logs() {
		more = s.Spec.MaxStdout > 0 && s.Files.Stdout.Size() > s.Spec.MaxStdout
		res.Stdout, err1 = s.Files.Stdout.Log(s.Spec.KeepLog)
	} else {
		res.Stdout, more, err1 = s.Files.Stdout.Whole(s.Spec.MaxStdout)
	}
	res.Stderr, err2 = s.Files.Stderr.Log(s.Spec.KeepLog)
	return more, errors.Join(err1, err2)
}

// await returns how the program ended, and why deployster ended it, if it did.
func (s *Supervisor) await(ctx context.Context, ended <-chan Exit, full <-chan *runner.DiskError) (e Exit, reason error) {
	var timeout, kill, giveUp <-chan time.Time
	var alone <-chan struct{}
	if s.Spec.Timeout > 0 {
		t := time.NewTimer(s.Spec.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	grace := s.Spec.Grace
	if grace <= 0 {
		grace = runner.DefaultGrace
	}
	done := ctx.Done()
	watch, written, size := time.NewTimer(runfiles.WatchEvery), time.Now(), int64(0)
	defer watch.Stop()
	// The steps to end it continue after the caller is gone.
	asking, stopAsking := context.WithCancel(context.WithoutCancel(ctx))
	defer stopAsking()
	ask := func(why error) {
		reason, done, timeout = why, nil, nil
		alone = s.Program.Signal(asking, unix.SIGTERM)
		kill = time.After(grace)
	}
	end := func() {
		kill, alone, full = nil, nil, nil
		s.Program.Signal(ctx, unix.SIGKILL)
		giveUp = time.After(KillLimit)
	}
	var offers <-chan Offer
	if s.Worker != nil {
		offers = s.Worker.Offers
	}
	for {
		select {
		case o := <-offers:
			if reason == nil && giveUp == nil && s.Worker.HandOver(o) {
				return Exit{}, ErrHandedOver
			}
			close(o.refused)
		case e := <-ended:
			return e, reason
		case <-done:
			ask(Cancelled(ctx, s.Spec))
		case <-timeout:
			ask(&runner.TimeoutError{After: s.Spec.Timeout})
		case <-kill:
			if t, ok := errors.AsType[*runner.TimeoutError](reason); ok {
				t.Killed = true
			}
			end()
		case <-alone:
			end()
		case exceeded := <-full:
			if reason == nil {
				reason = exceeded
			}
			done, timeout = nil, nil
			end()
		case <-giveUp:
			return Exit{Err: fmt.Errorf("it did not end within %s of being killed", KillLimit)}, reason
		case <-watch.C:
			if s.tooMuch() && giveUp == nil {
				reason, done, timeout = &runner.OutputError{Limit: cmp.Or(s.Spec.MaxStdout, runfiles.MaxUnread)}, nil, nil
				end()
			}
			if now := s.Files.Stdout.Size() + s.Files.Stderr.Size(); now != size {
				written, size = time.Now(), now
			}
			watch.Reset(runfiles.Pause(4*time.Since(written), runfiles.WatchEvery, runfiles.LongPause))
		}
	}
}

// tooMuch reports whether stdout exceeds its limit, and trims endless logs so that they
// do not fill the disk.
func (s *Supervisor) tooMuch() bool {
	keep := s.Spec.KeepLog
	if keep <= 0 {
		keep = runner.DefaultKeepLog
	}
	s.Files.Stderr.Trim(keep)
	if s.Worker != nil {
		return s.Worker.Tail.Unread() > runfiles.MaxUnread
	}
	if s.Spec.Logs() {
		s.Files.Stdout.Trim(keep)
	}
	return s.Spec.MaxStdout > 0 && s.Files.Stdout.Size() > s.Spec.MaxStdout
}
