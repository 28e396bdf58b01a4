package sharedlog

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// Clock is the time of this machine. It orders nothing between machines: a wrong
// one makes a holder wait too long, or gives up a claim early, and no more.
type Clock interface {
	Now() time.Duration // since the start of the machine, with the time that it was suspended
	Sleep(ctx context.Context, d time.Duration) error
}

// System is the clock of the machine.
type System struct{}

// Now reads CLOCK_BOOTTIME, which goes on while the machine is suspended.
func (System) Now() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(t.Nano())
}

// Sleep waits until the time is over or the context ends.
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

// Timing says how patient a log is. Nothing is safe because of it.
type Timing struct {
	Alive    time.Duration // a holder is heard of so often; 0 = only when it has something to say
	Gone     time.Duration // who was not heard of for so long loses the log
	Patience time.Duration // how long a store may be away
	Call     time.Duration // how long one call of a store may take
	Poll     time.Duration // the first look of one who waits; later ones take up to five times as long
}

// DefaultTiming are the times outside of tests.
func DefaultTiming() Timing {
	return Timing{Alive: 15 * time.Second, Gone: 60 * time.Second, Patience: 10 * time.Minute, Call: 20 * time.Second, Poll: time.Second}
}

// Faster divides all times.
func (t Timing) Faster(by time.Duration) Timing {
	return Timing{Alive: t.Alive / by, Gone: t.Gone / by, Patience: t.Patience / by, Call: max(t.Call/by, time.Second), Poll: t.Poll / by}
}
