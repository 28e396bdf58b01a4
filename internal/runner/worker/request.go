package worker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"deployster/internal/runner"
	"deployster/protocol"
)

// request is an invocation that is open. Its outputs belong to the goroutine
// that reads what the worker says, until done is closed.
type request struct {
	spec      runner.Spec
	since     time.Time
	abandoned bool // guarded by the worker's lock

	size           int64 // of stdout so far
	answer         bytes.Buffer
	stdout, stderr *runner.Log // stdout of an action only
	watchers       [2]*watcher // of stdout and stderr; nil until something is said
	over           chan struct{}
	overOnce       bool

	exit int
	done chan struct{} // closed after its last line
}

func newRequest(s runner.Spec) *request {
	q := &request{spec: s, since: time.Now(), stderr: runner.NewLog(s.KeepLog), over: make(chan struct{}), done: make(chan struct{})}
	if s.Kind == runner.Action {
		q.stdout = runner.NewLog(s.KeepLog)
	}
	return q
}

// add takes a piece of its outputs.
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
		if !q.overOnce {
			q.overOnce = true
			close(q.over)
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

// watch hands a piece on to who watches.
func (q *request) watch(i int, to io.Writer, s string) {
	if to == nil {
		return
	}
	if q.watchers[i] == nil {
		q.watchers[i] = newWatcher(to)
	}
	q.watchers[i].add(s)
}

// result gives what is known of a request that nothing more is said about.
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

// adoptable reports whether others may have to find out how it ended.
func (q *request) adoptable() bool { return q.spec.Kind == runner.Action && q.spec.ID != "" }

// do carries out one invocation. What of an action has begun is told to its
// Ended, while others can still find it out.
func (w *worker) do(ctx context.Context, s runner.Spec) (runner.Result, error) {
	start := time.Now()
	q := newRequest(s)
	id, ok := w.enter(q)
	if !ok {
		return runner.Result{}, errDoomed
	}
	res, begun, err := w.carryOut(ctx, id, q)
	res.Duration = time.Since(start)
	if err != nil || w.private(string(s.Stdin)) || w.private(string(res.Stdout)) || w.private(string(res.Stderr)) {
		w.keepNot()
	}
	var unknown *runner.UnknownError
	switch {
	case !begun:
	case errors.As(err, &unknown):
		return res, errors.Join(err, w.settle(id, q, false))
	case s.Ended != nil:
		if failed := s.Ended(res, err); failed != nil {
			return res, errors.Join(failed, w.settle(id, q, false))
		}
	}
	if failed := w.settle(id, q, true); failed != nil && err == nil {
		err = fmt.Errorf("noting that the end of %s is known: %w", s.Name, failed)
	}
	return res, err
}

// carryOut reports whether anything may have begun.
func (w *worker) carryOut(ctx context.Context, id int64, q *request) (res runner.Result, begun bool, err error) {
	s := q.spec
	line, err := encode(id, s)
	if err != nil {
		w.leave(id, q, false)
		return res, false, fmt.Errorf("what %s gets on stdin is no JSON: %w", s.Name, err)
	}
	if q.adoptable() {
		if err := w.proc.Asked(id, s); err != nil {
			w.leave(id, q, false)
			return res, false, fmt.Errorf("noting what %s is: %w", s.Name, err)
		}
	}
	var late <-chan time.Time
	if s.Timeout > 0 {
		t := time.NewTimer(s.Timeout)
		defer t.Stop()
		late = t.C
	}
	// The worker may not be reading at the moment.
	select {
	case w.lines <- line:
	case <-w.dead:
		return res, false, w.outcome
	case <-ctx.Done():
		w.leave(id, q, false)
		return res, false, cancelled(ctx, s)
	case <-late:
		w.leave(id, q, true)
		return res, false, &runner.TimeoutError{After: s.Timeout}
	}
	res, err = w.await(ctx, id, q, late)
	return res, true, err
}

// errDoomed says that the worker takes nothing more, and was told nothing.
var errDoomed = errors.New("the worker is ending")

// leave takes back an invocation that the worker has not been told of, perhaps
// because it is stuck.
func (w *worker) leave(id int64, q *request, stuck bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.doomed = w.doomed || stuck
	w.remove(id, q)
}

func cancelled(ctx context.Context, s runner.Spec) error {
	return fmt.Errorf("%s was cancelled: %w", s.Name, context.Cause(ctx))
}

// await waits for the last line about an invocation, and asks the worker to end
// it when its time is up, when it is not wanted any more, or when it says too
// much.
func (w *worker) await(ctx context.Context, id int64, q *request, late <-chan time.Time) (runner.Result, error) {
	var reason error
	var kill <-chan time.Time
	done, over := ctx.Done(), (<-chan struct{})(q.over)
	stop := func(why error) {
		reason, done, late, over = why, nil, nil, nil
		go w.tell(fmt.Appendf(nil, "{\"id\":%d,\"cancel\":true}\n", id))
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
		case <-w.dead:
			select {
			case <-q.done: // before that
				return q.result(), reason
			default:
			}
			res := q.result()
			res.ExitCode = cmp.Or(w.result.ExitCode, -1) // it did not end well
			if reason == nil {
				res.Stderr = append(res.Stderr, w.result.Stderr...) // why it died
			}
			return res, w.ended(reason)
		case <-done:
			stop(cancelled(ctx, q.spec))
		case <-late:
			stop(&runner.TimeoutError{After: q.spec.Timeout})
		case <-over:
			stop(&runner.OutputError{Limit: q.spec.MaxStdout})
		case <-kill:
			kill = nil
			var t *runner.TimeoutError
			if errors.As(reason, &t) {
				t.Killed = true
			}
			w.abandon(q)
			if q.spec.Kind == runner.Query {
				q.exit = 137
				return q.result(), reason // nothing is at stake
			}
		}
	}
}

// ended is the error of an invocation whose worker has ended: why it was to
// end, if it was.
func (w *worker) ended(reason error) error {
	var unknown *runner.UnknownError
	switch {
	case reason == nil:
		return w.outcome
	case errors.As(w.outcome, &unknown):
		return errors.Join(reason, w.outcome)
	}
	return reason
}

// tell writes a line, unless the worker ends before it can be written.
func (w *worker) tell(line []byte) {
	select {
	case w.lines <- line:
	case <-w.dead:
	}
}
