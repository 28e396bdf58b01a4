package sharedlog

import (
	"context"
	"time"
)

// Clock is the time of this machine. It orders nothing between machines: a wrong clock
// only makes a waiter wait too long, or makes a holder lose its claim early.
type Clock interface {
	Now() time.Duration // since boot, with the time that the machine was suspended
	Sleep(ctx context.Context, d time.Duration) error
}

// System is the clock of the machine, which continues while that is suspended.
type System struct{}

// Sleep waits for d, or until ctx ends.
func (System) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// Timing reports how patient a log is. Safety does not depend on it.
type Timing struct {
	Alive    time.Duration // how often a holder appends an entry at least; 0 = only when it has records
	Gone     time.Duration // a holder that appended nothing for so long can be taken over
	Patience time.Duration // how long to wait for a store that cannot be reached
	Call     time.Duration // how long one call of a store may take
	Poll     time.Duration // the first interval of a waiter; later ones are up to five times as long
}

// DefaultTiming returns the times outside of tests.
func DefaultTiming() Timing {
	return Timing{Alive: 15 * time.Second, Gone: 60 * time.Second, Patience: 10 * time.Minute, Call: 20 * time.Second, Poll: time.Second}
}

// Faster divides all times.
func (t Timing) Faster(by time.Duration) Timing {
	return Timing{Alive: t.Alive / by, Gone: t.Gone / by, Patience: t.Patience / by, Call: max(t.Call/by, time.Second), Poll: t.Poll / by}
}
