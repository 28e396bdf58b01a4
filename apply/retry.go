package apply

import (
	"context"
	"time"

	"deployster/config"
)

// maxPause is the longest time between two attempts.
const maxPause = 5 * time.Minute

// retries makes attempts at a resource, as many as its retry block declares. What was approved
// before the first attempt holds for all, and the keys of the actions are the same.
type retries struct {
	config.Retry
	work     context.Context // ends at the second interrupt
	retrying func(Event)     // called before each pause
}

// retriesOf returns the retries of a resource; nil = it is not declared, so there is one attempt.
func retriesOf(work context.Context, declared *config.Resource, event func(Event)) retries {
	if declared == nil {
		return retries{config.Retry{Attempts: 1}, work, event}
	}
	return retries{declared.Retry, work, event}
}

// do makes the attempts. attempt reports whether another one may help.
func (r retries) do(ctx context.Context, out *outcome, attempt func() (again bool)) {
	first := *out
	pause, failed := r.Delay, outcome{}
	for n := 1; ; n++ {
		again := attempt()
		if n > 1 && (out.declined || out.Report.Stale != nil) {
			*out = failed // report the earlier failure: what the image needs now is not approved
			out.Problem.Detail += " It was not tried again: the actions that its image needs now were not approved."
			return
		}
		if out.Acted && n > 1 {
			out.Report.Attempts = n
		}
		if !again || n >= r.Attempts || !out.repeatable() || ctx.Err() != nil {
			return
		}
		r.retrying(Retrying{Address: out.Addr, Attempt: n + 1, Of: r.Attempts, Pause: pause, Reason: out.Report.Reason})
		if !r.pause(ctx, pause) {
			return
		}
		pause, failed = min(2*pause, maxPause), *out
		*out = first
		out.Acted, out.again, out.unsure, out.Report.Planned = true, true, failed.unsure, failed.Report.Planned
	}
}

// pause waits, and reports whether it was not interrupted.
func (r retries) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-r.work.Done():
	}
	return false
}

// repeatable reports whether another attempt may correct the failure of this one: not if it is
// unknown how an action ended or what it made, or if a person has stopped or declined it.
func (o *outcome) repeatable() bool {
	return o.Report.Status == Error && !o.Fatal && !o.silent && !o.declined
}
