package place

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deployster/internal/runtime/runner"
	"deployster/kube/internal/pods"
	"deployster/kube/internal/podstatus"
	"deployster/kube/internal/pool"
)

// tries is in how many Pods a query is tried whose Pod was deleted, evicted or preempted, and an action that was not begun in a
// Pod for several.
const tries = 3

// Run implements runner.Runner.
func (p *Place) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	for try := 1; ; try++ {
		m, use, err := p.take(ctx, s)
		if err != nil {
			return runner.Result{}, p.notBegun(ctx, s, err)
		}
		r := &run{Place: p, m: m, use: use, s: s}
		res, err, again := r.run(ctx)
		if !again || try == tries {
			return res, err
		}
	}
}

// notBegun returns the error for an invocation that has no Pod.
func (p *Place) notBegun(ctx context.Context, s runner.Spec, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s was cancelled: %w", s.Name, context.Cause(ctx))
	case errors.Is(err, errExists): // it is adopted
		return &runner.UnknownError{Container: p.actionPod(s.ID), Err: err}
	}
	return err
}

// run is an invocation in a Pod.
type run struct {
	*Place
	m   *pool.Member
	use pool.Use
	s   runner.Spec

	unrecorded bool // the end could not be recorded: the proof of it must stay
}

// run carries the invocation out, and leaves the Pod. again means that it may be tried in another Pod: a query, or an action that
// was certainly not begun.
func (r *run) run(ctx context.Context) (res runner.Result, err error, again bool) {
	if ended := r.s.Ended; ended != nil {
		r.s.Ended = func(res runner.Result, err error) error {
			failed := ended(res, err)
			r.unrecorded = failed != nil
			return failed
		}
	}
	s := r.s
	host := at(r.m.Name)
	s.Settings.Host, s.Waiting = &host, nil
	res, err = r.agents.Run(ctx, s)
	lost := isLost(err)
	if lost {
		res, err, again = r.settle(ctx, res, err)
	}
	res.Pod = r.m.Name
	var unknown *runner.UnknownError
	switch {
	case r.unrecorded, errors.As(err, &unknown):
		r.pool.End(r.m)
		r.pool.Drop(r.m) // it stays for the next client
	case lost, r.use == pool.Process && (err != nil || r.s.Kind == runner.Action && res.ExitCode != 0): // what it leaves may matter
		r.pool.End(r.m)
		fallthrough
	default:
		r.pool.Leave(r.m, r.use)
	}
	return res, err, again
}

// isLost reports whether an error is of the connection to the agent.
func isLost(err error) bool {
	var unknown *runner.UnknownError
	var host *runner.HostError
	return errors.As(err, &unknown) || errors.As(err, &host)
}

// settle finds out what the loss of an agent means.
func (r *run) settle(ctx context.Context, res runner.Result, lost error) (runner.Result, error, bool) {
	after := context.WithoutCancel(ctx)
	seen, err := r.pods.Read(after, r.m.Name)
	if err != nil {
		seen, _ = r.pods.Get(r.m.Name)
	}
	if r.s.Kind == runner.Query {
		return r.settleQuery(ctx, res, lost, seen)
	}
	var unknown *runner.UnknownError
	elsewhere := r.use != pool.Own && ctx.Err() == nil // a Pod for several may end before the action begins
	if !errors.As(lost, &unknown) {                    // the agent was not reached: the request was not sent
		return res, &runner.StartError{Fault: runner.NotStarted, Text: r.why(seen, lost)}, elsewhere
	}
	if seen.Pod != nil {
		if out, known := podstatus.EndOf(seen.Pod).Fate(r.s.ID); known {
			seen = r.explained(after, seen)
			switch out.Fate {
			case runner.Exited:
				if r.s.Ended != nil {
					err = r.s.Ended(out.Result, nil)
				}
				return out.Result, err, false
			case runner.NotBegun:
				return res, &runner.StartError{Fault: runner.NotStarted, Text: fmt.Sprintf("the Pod %s %s before the action began",
					r.m.Name, podstatus.EndOf(seen.Pod).Why)}, elsewhere
			}
			return res, &runner.UnknownError{Container: r.m.Name, Err: errors.New(r.why(seen, lost)), Over: true}, false
		}
	}
	return res, &runner.UnknownError{Container: r.m.Name, Err: errors.New(r.why(seen, lost))}, false
}

// explaining is how long after the end of a container its kubelet may take to report why it ended it.
const explaining = 5 * time.Second

// explained returns a Pod whose container has ended, once its status has why.
func (r *run) explained(ctx context.Context, seen pods.Seen) pods.Seen {
	within, cancel := context.WithTimeout(ctx, explaining)
	defer cancel()
	_ = r.pods.Wait(within, r.m.Name, func(s pods.Seen) (bool, error) { // without a reason the end is certain, too
		if s.Pod != nil {
			seen = s
		}
		return s.Pod == nil || s.Gone || podstatus.Final(s.Pod), nil
	})
	return seen
}

// settleQuery finds out how a query ended whose agent was lost.
func (r *run) settleQuery(ctx context.Context, res runner.Result, lost error, seen pods.Seen) (runner.Result, error, bool) {
	if seen.Pod != nil {
		if end := podstatus.EndOf(seen.Pod); end.OOM {
			res.ExitCode, res.OOM = 137, true
			return res, nil, false
		}
	}
	err := &unavailable{text: r.why(seen, lost)}
	gone := seen.Pod == nil || seen.Gone || seen.Pod.DeletionTimestamp != nil || podstatus.EndOf(seen.Pod).Over
	return res, err, gone && ctx.Err() == nil
}

// why describes the loss of the agent.
func (r *run) why(seen pods.Seen, lost error) string { return whyLost(r.m.Name, r.s.Name, seen, lost) }

// whyLost describes the loss of the agent of a Pod in which something was to run.
func whyLost(name, ran string, seen pods.Seen, lost error) string {
	switch {
	case seen.Pod == nil:
		return "the Pod " + name + " does not exist any more"
	case podstatus.EndOf(seen.Pod).Over:
		return fmt.Sprintf("the Pod %s %s while %s ran", name, podstatus.EndOf(seen.Pod).Why, ran)
	case seen.Gone:
		return fmt.Sprintf("the Pod %s was removed without a report of its end, so %s may still run", name, ran)
	}
	if silent := podstatus.Silent(seen.Pod); silent != "" {
		return fmt.Sprintf("%s; the Pod %s is on it", silent, name)
	}
	return fmt.Sprintf("the Pod %s cannot be reached: %s", name, cause(lost))
}

// cause returns the text of an error without the names that the router gives it.
func cause(err error) string {
	var unknown *runner.UnknownError
	if errors.As(err, &unknown) {
		err = unknown.Err
	}
	var host *runner.HostError
	if errors.As(err, &host) {
		err = host.Err
	}
	return err.Error()
}

// Launch implements runner.Launcher: the program has a Pod of its own.
func (p *Place) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	s.Worker, s.Reuse, s.ID = nil, false, ""
	m, use, err := p.take(ctx, s)
	if err != nil {
		return nil, p.notBegun(ctx, s, err)
	}
	host := at(m.Name)
	s.Settings.Host, s.Waiting = &host, nil
	started, err := p.agents.Launch(ctx, s)
	if err != nil {
		p.pool.Leave(m, use)
		return nil, err
	}
	go func() {
		_, _ = started.Wait() // the caller gets its result, too
		p.pool.Leave(m, use)
	}()
	return started, nil
}
