package containerd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"golang.org/x/sys/unix"

	"deployster/containerd/shim"
	"deployster/internal/runner"
)

// attend looks after a program that has begun, until its end.
func (u *run) attend(ctx context.Context, exit <-chan exit) (res runner.Result, err error) {
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWatching()
	res, err = u.finish(ctx, exit, watchDisk(watching, u.rootfs, diskLimit(u.s.Settings)))
	if u.handed {
		return res, nil
	}
	if err == nil && u.talk == nil && neverBegan(u.io.dir, res.ExitCode) {
		return runner.Result{}, u.startFailure(errCutOff)
	}
	return res, u.hand(res, err)
}

// closeFiles removes the files of a run, unless others need them.
func (u *run) closeFiles(err *error) {
	if u.kept || u.handed {
		u.io.close()
		return
	}
	if rerr := u.io.remove(); *err == nil && rerr != nil {
		*err = rerr
	}
}

// cleanUp removes the container of a run, unless it is another's, or the server's.
func (u *run) cleanUp(ctx context.Context, err *error) {
	if !u.handed && !u.away {
		*err = u.clear(ctx, *err)
	}
}

// finish waits for the end of a program that runs, and ends it itself when its
// time is up, when it is not wanted any more, when it prints too much, or when
// its files fill too much of the disk.
func (u *run) finish(ctx context.Context, ended <-chan exit, full <-chan struct{}) (res runner.Result, err error) {
	e, reason := u.await(ctx, ended, full)
	if u.handed {
		return res, nil
	}
	if e.err != nil {
		// Not even its outputs can be trusted to be complete.
		reason = join(reason, u.unknown(e.err))
	}
	res.ExitCode = e.code
	if e.err == nil {
		if _, ok := shim.ReadEnding(u.io.dir); !ok && u.warm == nil {
			// A failure costs the exit code only when this client dies now.
			_ = shim.WriteEnding(u.io.dir, shim.Ending{Code: e.code, At: time.Now()})
		}
		res.OOM = oomKills(u.id) > u.kills
		if reason != nil || !u.giveAway(ctx) {
			reason = join(reason, u.deleteTask(ctx))
		}
	}
	u.io.stdout.finish()
	u.io.stderr.finish()
	if u.talk != nil {
		u.talk.said.finish()
	}
	more, err := u.collect(&res)
	if more && reason == nil {
		reason = &runner.OutputError{Limit: u.s.MaxStdout}
	}
	if err != nil {
		reason = join(reason, fmt.Errorf("reading what %s printed: %w", u.s.Name, err))
	}
	return res, reason
}

// hand tells how the program ended to whoever makes that durable, while the
// proof is still there. Of what is not known there is nothing to tell.
func (u *run) hand(res runner.Result, err error) error {
	var unknown *runner.UnknownError
	if errors.As(err, &unknown) {
		return err
	}
	if u.s.Ended != nil {
		if failed := u.s.Ended(res, err); failed != nil {
			u.kept = u.s.Kind == runner.Action
			return failed
		}
	}
	if u.talk != nil {
		if failed := u.leave(res); failed != nil {
			u.kept = true
			return join(err, failed)
		}
	}
	return err
}

// join puts two errors together, and leaves one as it is.
func join(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return errors.Join(a, b)
}

// deleteTask ends the shim. Only then has it written all that the program
// printed.
func (u *run) deleteTask(ctx context.Context) error {
	ctx, cancel := u.r.detached(ctx, cleanupLimit)
	defer cancel()
	if u.warm != nil {
		u.warm.settle()
	}
	if u.forked != nil {
		return u.forked.drain(u.warm)
	}
	del := func() error {
		_, err := u.tasks().Delete(ctx, &taskapi.DeleteTaskRequest{ContainerID: u.id})
		return unlessGone(errgrpc.ToNative(err))
	}
	err := del()
	// A server that is being killed may answer once more before it is gone.
	for errdefs.IsUnavailable(err) && ctx.Err() == nil && u.r.revive(ctx) == nil {
		time.Sleep(adoptEvery)
		err = del()
	}
	u.gone = err == nil
	return u.r.failure("Removing the task of "+u.s.Name, err)
}

// collect fills the outputs into the result, and reports whether there was more
// on stdout than is allowed.
func (u *run) collect(res *runner.Result) (more bool, err error) {
	var err1, err2 error
	if u.talk != nil {
		res.Stderr, err = u.io.stderr.log(u.s.KeepLog)
		return false, err
	}
	if u.s.Kind == runner.Action {
		more = u.s.MaxStdout > 0 && u.io.stdout.size() > u.s.MaxStdout
		res.Stdout, err1 = u.io.stdout.log(u.s.KeepLog)
	} else {
		res.Stdout, more, err1 = u.io.stdout.whole(u.s.MaxStdout)
	}
	res.Stderr, err2 = u.io.stderr.log(u.s.KeepLog)
	return more, errors.Join(err1, err2)
}

// await gives how the program ended, and why it was ended if it was.
func (u *run) await(ctx context.Context, ended <-chan exit, full <-chan struct{}) (e exit, reason error) {
	var timeout, kill, giveUp <-chan time.Time
	var alone <-chan struct{}
	if u.s.Timeout > 0 {
		t := time.NewTimer(u.s.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	grace := u.s.Grace
	if grace <= 0 {
		grace = runner.DefaultGrace
	}
	done := ctx.Done()
	watch := time.NewTicker(watchEvery)
	defer watch.Stop()
	// What is begun to end it goes on when the caller has gone away.
	asking, stopAsking := context.WithCancel(context.WithoutCancel(ctx))
	defer stopAsking()
	ask := func(why error) {
		reason, done, timeout = why, nil, nil
		alone = u.terminate(asking)
		kill = time.After(grace)
	}
	end := func() {
		kill, alone, full = nil, nil, nil
		u.signal(ctx, unix.SIGKILL)
		giveUp = time.After(killLimit)
	}
	var offers <-chan offer
	if u.talk != nil {
		offers = u.talk.offers
	}
	for {
		select {
		case o := <-offers:
			if u.handed = reason == nil && giveUp == nil && u.handOver(o); u.handed {
				return exit{}, nil
			}
			close(o.refused)
		case e := <-ended:
			return e, reason
		case <-done:
			ask(cancelled(ctx, u.s))
		case <-timeout:
			ask(&runner.TimeoutError{After: u.s.Timeout})
		case <-kill:
			var t *runner.TimeoutError
			if errors.As(reason, &t) {
				t.Killed = true
			}
			end()
		case <-alone:
			end()
		case <-full:
			if reason == nil {
				reason = &runner.DiskError{Limit: diskLimit(u.s.Settings)}
			}
			done, timeout = nil, nil
			end()
		case <-giveUp:
			return exit{err: fmt.Errorf("it did not end within %s of being killed", killLimit)}, reason
		case <-watch.C:
			if u.tooMuch() && giveUp == nil {
				reason, done, timeout = &runner.OutputError{Limit: cmp.Or(u.s.MaxStdout, maxUnread)}, nil, nil
				end()
			}
		}
	}
}

// tooMuch reports whether stdout is over its limit, and keeps endless logs from
// filling the disk.
func (u *run) tooMuch() bool {
	keep := u.s.KeepLog
	if keep <= 0 {
		keep = runner.DefaultKeepLog
	}
	u.io.stderr.trim(keep)
	if u.talk != nil {
		return u.talk.said.unread() > maxUnread
	}
	if u.s.Kind == runner.Action {
		u.io.stdout.trim(keep)
	}
	return u.s.MaxStdout > 0 && u.io.stdout.size() > u.s.MaxStdout
}

// signal sends a signal: SIGTERM to the program, SIGKILL to all its processes.
// It may have ended by itself just before, which its end will tell.
func (u *run) signal(ctx context.Context, sig unix.Signal) {
	ctx, cancel := u.r.detached(ctx, 10*time.Second)
	defer cancel()
	if u.warm != nil && sig == unix.SIGKILL {
		u.warm.kill()
		return
	}
	if u.forked != nil {
		if fd, err := u.open(int(u.pid)); err == nil {
			_ = unix.PidfdSendSignal(fd, sig, nil, 0)
			_ = unix.Close(fd)
		}
		return
	}
	_, _ = u.tasks().Kill(ctx, &taskapi.KillRequest{ContainerID: u.id, Signal: uint32(sig), All: sig == unix.SIGKILL})
}

// interrupted reports whether a call was cut off, and may be carried out all the
// same.
func interrupted(err error) bool {
	return errdefs.IsUnavailable(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// unknown says that nobody knows how the program ended, or whether. The cause
// is kept as text only: a call that was cut off there is not to be taken for a
// cancellation by the caller.
func (u *run) unknown(err error) error {
	return &runner.UnknownError{Container: u.id, Err: errors.New(err.Error())}
}
