package pod

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/withheld"
)

// mostActions is how many actions may be open, or have an outcome that no client has recorded.
const mostActions = 16

// longestID is how long the ID of an action may be, in bytes: the lines of mostActions of them fit into
// the termination message.
const longestID = 100

// errDeleted is why an action ends, or is not begun, in a Pod that is being deleted.
var errDeleted = errors.New("the Pod is being deleted")

// action is an action that was begun here. It is forgotten when its end is recorded elsewhere.
type action struct {
	key    string // its ID, or a random one
	id     string // "" = nobody can adopt it
	stdout *record
	stderr *record
	cancel context.CancelCauseFunc
	spec   runner.Spec // if it is Confidential: how its outcome is kept

	done    chan struct{} // closed when it has ended; the fields below are set before
	outcome runner.Outcome
}

// actions are those that were begun here.
type actions struct {
	message *message
	log     func(format string, args ...any)
	slots   chan struct{} // has an element for each action

	mu       sync.Mutex
	open     map[string]*action
	stopping bool
}

// begin adds an action, which cancel ends. still is called when it would be added: the client must
// still hold the state.
func (a *actions) begin(ctx context.Context, s runner.Spec, cancel context.CancelCauseFunc, still func() error) (*action, error) {
	if len(s.ID) > longestID || strings.ContainsFunc(s.ID, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("the ID %q of an action is not valid", s.ID)
	}
	select {
	case a.slots <- struct{}{}:
	default:
		if s.Waiting != nil {
			s.Waiting(fmt.Sprintf("%d actions are open in its Pod", mostActions))
		}
		select {
		case a.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, fmt.Errorf("%s was cancelled: %w", s.Name, context.Cause(ctx))
		}
	}
	one, err := a.enter(s, cancel, still)
	if err != nil {
		<-a.slots
	}
	return one, err
}

func (a *actions) enter(s runner.Spec, cancel context.CancelCauseFunc, still func() error) (*action, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.stopping:
		return nil, errDeleted
	case s.ID != "" && a.open[s.ID] != nil:
		return nil, &runner.UnknownError{Container: s.ID, Err: errors.New("it was begun in this Pod before")}
	}
	if err := still(); err != nil {
		return nil, err
	}
	one := &action{key: s.ID, id: s.ID, stdout: newRecord(runner.KeepOutcome), stderr: newRecord(s.KeepLog), cancel: cancel,
		done: make(chan struct{})}
	if s.ID == "" {
		one.key = newID()
	}
	if s.Confidential {
		one.spec = runner.Spec{Confidential: true, MaxStdout: s.MaxStdout, Secrets: s.Secrets}
	}
	a.open[one.key] = one
	return one, nil
}

// find returns an action; nil = there is none.
func (a *actions) find(id string) *action {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.open[id]
}

// forget forgets an action.
func (a *actions) forget(one *action) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open[one.key] == one {
		delete(a.open, one.key)
		<-a.slots
	}
}

// running counts the actions that have not ended, and returns when the last one of the others has; zero
// = there are no others.
func (a *actions) running() (n int, ended time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.open {
		switch {
		case !closed(one.done):
			n++
		case one.outcome.Ended.After(ended):
			ended = one.outcome.Ended
		}
	}
	return n, ended
}

// stop lets no action begin any more.
func (a *actions) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopping = true
}

// cancel ends all actions that run, as their client's cancellation would.
func (a *actions) cancel(why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.open {
		one.cancel(why)
	}
}

// detached returns a context that ends when the client cancels its call, and not when the connection is lost.
func detached(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); errors.Is(cause, remote.ErrCancelled) {
			cancel(cause)
		}
	})
	return own, func(why error) {
		if why == nil {
			stop()
		}
		cancel(why)
	}
}

// run carries out an action with a runner. Its end is kept until a client has recorded it.
func (a *actions) run(ctx context.Context, by runner.Runner, s runner.Spec, still func() error) (runner.Result, error) {
	own, cancel := detached(ctx)
	defer cancel(nil)
	one, err := a.begin(ctx, s, cancel, still)
	if err != nil {
		return runner.Result{}, err
	}
	shown := one.show(nil, runner.Watch{Stdout: s.Stdout, Stderr: s.Stderr})
	client := s.Ended
	s.Stdout, s.Stderr = one.stdout, one.stderr
	s.Ended = func(res runner.Result, err error) error {
		a.ended(one, res, err)
		shown.Wait()
		lost := ctx.Err() != nil && !errors.Is(context.Cause(ctx), remote.ErrCancelled)
		if client != nil {
			if err := client(res, err); err != nil && s.ID != "" {
				return err
			}
		} else if lost && s.ID != "" {
			return nil // its client has not heard it
		}
		a.recorded(one)
		return nil
	}
	res, err := by.Run(own, s)
	if !closed(one.done) {
		a.failed(one, err)
	}
	return res, err
}

// show passes on what an action prints, from its beginning, until it has ended or done is closed.
func (one *action) show(done <-chan struct{}, w runner.Watch) *sync.WaitGroup {
	var all sync.WaitGroup
	if w.Stdout != nil {
		f := one.stdout.join()
		all.Go(func() { one.stdout.follow(f, w.Stdout, done) })
	}
	if w.Stderr != nil {
		f := one.stderr.join()
		all.Go(func() { one.stderr.follow(f, w.Stderr, done) })
	}
	return &all
}

// ended keeps how an action has ended. err is why it was ended; nil = by itself.
func (a *actions) ended(one *action, res runner.Result, err error) {
	out := runner.Outcome{Result: res, Fate: runner.Exited, Ended: time.Now()}
	if died, is := errors.AsType[*runner.WorkerError](err); is {
		out.Fate, out.Why = runner.Unknown, died.Reason
	}
	out.Stdout, out.Stderr = one.stdout.kept(), one.stderr.kept()
	if err != nil { // an outcome has no error
		out.Stderr = fmt.Appendf(out.Stderr, "\n%s\n", err)
	}
	if one.id != "" && out.Fate == runner.Exited {
		_ = a.message.exited(one.id, res.ExitCode) // without this line its outcome is unknown once the container has ended
		a.log("action %s exit %d", one.id, res.ExitCode)
	} else if one.id != "" {
		a.log("action %s was lost", one.id)
	}
	if one.spec.Confidential {
		out = withheld.Output(out, one.spec.MaxStdout > 0, one.spec.Secrets)
	}
	one.outcome = out
	close(one.done)
	one.stdout.end()
	one.stderr.end()
}

// recorded forgets an action whose end is recorded elsewhere.
func (a *actions) recorded(one *action) {
	_ = a.message.forget(one.id, false) // which writes nothing
	a.forget(one)
}

// failed ends an action whose runner has not reported its end: it was not begun, or what became of it
// is unknown.
func (a *actions) failed(one *action, err error) {
	if unknown, is := errors.AsType[*runner.UnknownError](err); is {
		one.outcome = runner.Outcome{Fate: runner.Unknown, Why: unknown.Err.Error(), Ended: time.Now()}
	} else {
		_ = a.message.forget(one.id, true) // with this line its outcome is unknown once the container has ended
		a.log("action %s was not begun", one.id)
		a.forget(one)
	}
	close(one.done)
	one.stdout.end()
	one.stderr.end()
}

// adopt waits for the end of an action.
func (a *actions) adopt(ctx context.Context, id string, w runner.Watch) (runner.Outcome, error) {
	one := a.find(id)
	if one == nil {
		return runner.Outcome{Fate: runner.Unknown, NoTrace: true, Why: "there is no record of it in its Pod"}, nil
	}
	if w.Running != nil && !closed(one.done) {
		w.Running()
	}
	if one.spec.Confidential {
		w = runner.Watch{} // whoever watches may not know the secret
	}
	shown := one.show(ctx.Done(), w)
	select {
	case <-one.done:
		shown.Wait()
		return one.outcome, nil
	case <-ctx.Done():
		return runner.Outcome{}, context.Cause(ctx)
	}
}

// discard forgets an action that has ended.
func (a *actions) discard(id string) error {
	one := a.find(id)
	switch {
	case one == nil:
		return a.message.forget(id, true) // the same ID may begin again
	case !closed(one.done):
		return fmt.Errorf("the action %s still runs", id)
	}
	a.recorded(one)
	return nil
}
