package containerd

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

// supervisor waits for the end of a running program of any kind. It ends the program at
// its timeout, when its run is cancelled, when it prints too much, or when its files fill
// too much of the disk.
type supervisor struct {
	program program
	spec    runner.Spec
	files   *runfiles.Files
	id      string   // of the container
	kills   int      // out-of-memory kills before it
	talk    *process // the conversation with a worker; nil = it is not a worker
}

// errHandedOver reports that the program continues, and that this client does not hold it any more.
var errHandedOver = errors.New("it was handed over")

// finish waits for the end of the program, and returns its result.
func (s *supervisor) finish(ctx context.Context, ended <-chan exit, full <-chan *runner.DiskError) (res runner.Result, err error) {
	e, reason := s.await(ctx, ended, full)
	if reason == errHandedOver {
		return res, reason
	}
	if e.err != nil {
		// Its outputs may be incomplete too.
		reason = failure.Join(reason, unknownEnd(s.id, e.err))
	} else {
		res.ExitCode = e.code
		res.OOM = sandbox.OOMKills(s.id) > s.kills
		reason = failure.Join(reason, s.program.delete(ctx, e.code, reason == nil))
	}
	s.files.Stdout.Finish()
	s.files.Stderr.Finish()
	if s.talk != nil {
		s.talk.Tail.Finish()
	}
	more, err := s.collect(&res)
	if more && reason == nil {
		reason = &runner.OutputError{Limit: s.spec.MaxStdout}
	}
	if err != nil {
		reason = failure.Join(reason, fmt.Errorf("reading what %s printed: %w", s.spec.Name, err))
	}
	return res, reason
}

// collect adds the outputs to the result, and reports whether stdout exceeded its limit.
func (s *supervisor) collect(res *runner.Result) (more bool, err error) {
	var err1, err2 error
	if s.talk != nil {
		res.Stderr, err = s.files.Stderr.Log(s.spec.KeepLog)
		return false, err
	}
	if s.spec.Logs() {
		more = s.spec.MaxStdout > 0 && s.files.Stdout.Size() > s.spec.MaxStdout
		res.Stdout, err1 = s.files.Stdout.Log(s.spec.KeepLog)
	} else {
		res.Stdout, more, err1 = s.files.Stdout.Whole(s.spec.MaxStdout)
	}
	res.Stderr, err2 = s.files.Stderr.Log(s.spec.KeepLog)
	return more, errors.Join(err1, err2)
}

// await returns how the program ended, and why deployster ended it, if it did.
func (s *supervisor) await(ctx context.Context, ended <-chan exit, full <-chan *runner.DiskError) (e exit, reason error) {
	var timeout, kill, giveUp <-chan time.Time
	var alone <-chan struct{}
	if s.spec.Timeout > 0 {
		t := time.NewTimer(s.spec.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	grace := s.spec.Grace
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
		alone = s.program.signal(asking, unix.SIGTERM)
		kill = time.After(grace)
	}
	end := func() {
		kill, alone, full = nil, nil, nil
		s.program.signal(ctx, unix.SIGKILL)
		giveUp = time.After(killLimit)
	}
	var offers <-chan offer
	if s.talk != nil {
		offers = s.talk.offers
	}
	for {
		select {
		case o := <-offers:
			if reason == nil && giveUp == nil && s.talk.handOver(o) {
				return exit{}, errHandedOver
			}
			close(o.refused)
		case e := <-ended:
			return e, reason
		case <-done:
			ask(cancelled(ctx, s.spec))
		case <-timeout:
			ask(&runner.TimeoutError{After: s.spec.Timeout})
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
			return exit{err: fmt.Errorf("it did not end within %s of being killed", killLimit)}, reason
		case <-watch.C:
			if s.tooMuch() && giveUp == nil {
				reason, done, timeout = &runner.OutputError{Limit: cmp.Or(s.spec.MaxStdout, runfiles.MaxUnread)}, nil, nil
				end()
			}
			if now := s.files.Stdout.Size() + s.files.Stderr.Size(); now != size {
				written, size = time.Now(), now
			}
			watch.Reset(runfiles.Pause(4*time.Since(written), runfiles.WatchEvery))
		}
	}
}

// tooMuch reports whether stdout exceeds its limit, and trims endless logs so that they
// do not fill the disk.
func (s *supervisor) tooMuch() bool {
	keep := s.spec.KeepLog
	if keep <= 0 {
		keep = runner.DefaultKeepLog
	}
	s.files.Stderr.Trim(keep)
	if s.talk != nil {
		return s.talk.Tail.Unread() > runfiles.MaxUnread
	}
	if s.spec.Logs() {
		s.files.Stdout.Trim(keep)
	}
	return s.spec.MaxStdout > 0 && s.files.Stdout.Size() > s.spec.MaxStdout
}
