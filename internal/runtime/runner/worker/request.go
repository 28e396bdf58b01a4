package worker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// request is an open invocation. Its outputs belong to the goroutine that reads the
// worker's stdout, until done is closed.
type request struct {
	spec      runner.Spec
	since     time.Time
	abandoned bool // guarded by the worker's lock

	waits bool      // the worker has reported that it has not begun the request; guarded by the worker's lock
	began time.Time // when its timeout began; guarded by the worker's lock

	batch *sent // the batch that it was sent with; nil = it was sent alone
	begun bool  // a member of a batch was begun; guarded by the worker's lock

	size           int64 // of stdout so far
	answer         bytes.Buffer
	stdout, stderr *runner.Log   // stdout of an action only
	watchers       [2]*watcher   // for stdout and stderr; nil until something is printed
	overLimit      chan struct{} // closed when stdout exceeds its limit
	tooLong        bool          // overLimit is closed

	exit int
	done chan struct{} // closed after the last reply
}

func newRequest(s runner.Spec) *request {
	now := time.Now()
	q := &request{spec: s, since: now, began: now, stderr: runner.NewLog(s.KeepLog), overLimit: make(chan struct{}),
		done: make(chan struct{})}
	if s.Kind == runner.Action {
		q.stdout = runner.NewLog(s.KeepLog)
	}
	return q
}

// add adds a piece of the outputs.
func (q *request) add(r protocol.WorkerReply) {
	if r.Stdout != "" {
		q.addStdout(r.Stdout)
	}
	if r.Stderr != "" {
		_, _ = q.stderr.Write([]byte(r.Stderr)) // never fails
		q.watch(1, q.spec.Stderr, r.Stderr)
	}
}

func (q *request) addStdout(s string) {
	q.size += int64(len(s))
	if limit := q.spec.MaxStdout; limit > 0 && q.size > limit {
		if !q.tooLong {
			q.tooLong = true
			close(q.overLimit)
		}
		return
	}
	if q.stdout != nil {
		_, _ = q.stdout.Write([]byte(s)) // never fails
	} else {
		q.answer.WriteString(s)
	}
	q.watch(0, q.spec.Stdout, s)
}

// watch passes a piece of output on to a writer.
func (q *request) watch(i int, to io.Writer, s string) {
	if to == nil {
		return
	}
	if q.watchers[i] == nil {
		q.watchers[i] = newWatcher(to)
	}
	q.watchers[i].add(s)
}

// result returns the result of a request that gets no more replies, after its watchers have written everything.
func (q *request) result() runner.Result {
	for _, w := range q.watchers {
		if w != nil {
			w.finish()
		}
	}
	res := runner.Result{ExitCode: q.exit, Stderr: q.stderr.Bytes(), Stdout: q.answer.Bytes()}
	if q.stdout != nil {
		res.Stdout = q.stdout.Bytes()
	}
	return res
}

// adoptable reports whether a later command may have to find out how the request ended.
func (q *request) adoptable() bool { return q.spec.Kind == runner.Action && q.spec.ID != "" }

// do carries out one invocation. It calls Spec.Ended with the end of an action that may
// have begun while a later command can still adopt the action.
func (w *worker) do(ctx context.Context, s runner.Spec) (runner.Result, error) {
	start := time.Now()
	q := newRequest(s)
	id, ok := w.add(q)
	if !ok {
		return runner.Result{}, errDraining
	}
	res, begun, err := w.execute(ctx, id, q)
	res.Duration = time.Since(start)
	return w.finish(id, q, res, begun, err)
}

// finish reports the end of an invocation, and settles it.
func (w *worker) finish(id int64, q *request, res runner.Result, begun bool, err error) (runner.Result, error) {
	s := q.spec
	if err != nil || w.o.isPrivate(string(s.Stdin)) || w.o.isPrivate(string(res.Stdout)) || w.o.isPrivate(string(res.Stderr)) {
		w.markTainted()
	}
	switch {
	case !begun:
	case diag.Is[*runner.UnknownError](err):
		return res, errors.Join(err, w.actionEnded(id, q, false))
	case s.Ended != nil:
		if failed := s.Ended(res, err); failed != nil {
			return res, errors.Join(failed, w.actionEnded(id, q, false))
		}
	}
	if failed := w.actionEnded(id, q, true); failed != nil && err == nil {
		err = fmt.Errorf("noting that the end of %s is known: %w", s.Name, failed)
	}
	return res, err
}

// execute carries out a request, and reports whether the worker may have begun it.
func (w *worker) execute(ctx context.Context, id int64, q *request) (res runner.Result, begun bool, err error) {
	s := q.spec
	line, err := w.prepare(id, q)
	if err != nil {
		w.withdraw(id, q, false)
		return res, false, err
	}
	late := &time.Timer{} // a timer that never fires
	if s.Timeout > 0 {
		late = time.NewTimer(s.Timeout)
		defer late.Stop()
	}
	// The worker may not be reading at the moment.
	select {
	case w.outgoing <- line:
	case <-w.ended:
		return res, false, w.endErr
	case <-ctx.Done():
		w.withdraw(id, q, false)
		return res, false, cancelled(ctx, s)
	case <-late.C:
		w.withdraw(id, q, true)
		return res, false, &runner.TimeoutError{After: s.Timeout}
	}
	res, err = w.await(ctx, id, q, late)
	return res, !w.neverBegun(q), err
}

// prepare returns the line that requests an invocation, after it is recorded that an action is requested.
func (w *worker) prepare(id int64, q *request) ([]byte, error) {
	line, err := encode(id, q.spec)
	if err != nil {
		return nil, fmt.Errorf("the input of %s is not valid JSON: %w", q.spec.Name, err)
	}
	if q.adoptable() {
		if err := w.proc.Asked(id, q.spec); err != nil {
			return nil, fmt.Errorf("the request for %s cannot be recorded: %w", q.spec.Name, err)
		}
	}
	return line, nil
}

// neverBegun reports whether the request has ended and the worker has not begun it. A worker that
// ended well has replied that it begins all members of a batch that have reached it.
func (w *worker) neverBegun(q *request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-q.done:
		return q.waits || q.batch != nil && !q.begun
	default:
		return q.batch != nil && !q.begun && w.endedWell()
	}
}

// errDraining reports that the worker accepts no more requests, and did not get this one.
var errDraining = errors.New("the worker is ending")

// withdraw removes a request that was not written to the worker. stuck reports that the
// worker does not read its stdin.
func (w *worker) withdraw(id int64, q *request, stuck bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.draining = w.draining || stuck
	w.remove(id, q)
}

func cancelled(ctx context.Context, s runner.Spec) error {
	return fmt.Errorf("%s was cancelled: %w", s.Name, context.Cause(ctx))
}

// moreTime returns how much longer a request may take. Its timeout counts from its begin.
// It may wait as long as the worker carries out other requests, whose timeouts count.
func (w *worker) moreTime(q *request) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !q.waits {
		return q.spec.Timeout - time.Since(q.began)
	}
	for _, other := range w.open {
		if !other.waits && !other.abandoned {
			return q.spec.Timeout
		}
	}
	return q.spec.Timeout - min(time.Since(q.began), time.Since(w.wentOn))
}

// await waits for the last reply to a request. It cancels the request when its timeout
// is over, when ctx ends, or when the request prints too much.
func (w *worker) await(ctx context.Context, id int64, q *request, timer *time.Timer) (runner.Result, error) {
	var reason error
	var kill <-chan time.Time
	done, exceeded, late := ctx.Done(), (<-chan struct{})(q.overLimit), timer.C
	together := q.batch.stopping()
	stop := func(why error) {
		reason, done, late, exceeded, together = why, nil, nil, nil, nil
		q.batch.stop()
		go w.send(fmt.Appendf(nil, "{\"id\":%d,\"cancel\":true}\n", id))
		grace := q.spec.Grace
		if grace <= 0 {
			grace = runner.DefaultGrace
		}
		kill = time.After(grace)
	}
	for {
		select {
		case <-q.done:
			return q.result(), reason
		case <-w.ended:
			select {
			case <-q.done: // the request ended first
				return q.result(), reason
			default:
			}
			res := q.result()
			res.ExitCode = cmp.Or(w.result.ExitCode, -1) // the request did not succeed
			if reason == nil {
				res.Stderr = append(res.Stderr, w.result.Stderr...) // why the worker ended
			}
			return res, w.endError(q, reason)
		case <-together:
			stop(errStopped)
		case <-done:
			stop(cancelled(ctx, q.spec))
		case <-late:
			if more := w.moreTime(q); more > 0 {
				timer.Reset(more)
				continue
			}
			stop(&runner.TimeoutError{After: q.spec.Timeout})
		case <-exceeded:
			stop(&runner.OutputError{Limit: q.spec.MaxStdout})
		case <-kill:
			kill = nil
			if t, ok := errors.AsType[*runner.TimeoutError](reason); ok {
				t.Killed = true
			}
			w.abandon(q)
			if q.spec.Kind == runner.Query {
				q.exit = 137
				return q.result(), reason // a query changes nothing
			}
		}
	}
}

// endError returns the error of an invocation whose worker has ended: reason, if the
// invocation was cancelled.
func (w *worker) endError(q *request, reason error) error {
	switch {
	case q.batch != nil && !w.neverBegun(q) && !diag.Is[*runner.UnknownError](w.endErr):
		return errors.Join(reason, &runner.UnknownError{Container: q.spec.ID, Err: w.endErr, Over: true})
	case reason == nil:
		return w.endErr
	case diag.Is[*runner.UnknownError](w.endErr):
		return errors.Join(reason, w.endErr)
	}
	return reason
}

// send writes a line to stdin, unless the worker ends before.
func (w *worker) send(line []byte) {
	select {
	case w.outgoing <- line:
	case <-w.ended:
	}
}
