package sharedlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// Options declare how to open a log for writing.
type Options struct {
	By   By
	Wait time.Duration // how long to wait while another claim holds the log; 0 = not at all

	// Take is a claim that Open takes over even if its holder lives; "" = none.
	Take string
	// Dead reports whether the holder of a claim is surely dead; nil = unknown for all claims.
	Dead func(claim string) bool
	// Claim is the id of the new claim; "" = a random one.
	Claim string
	// Salvage also opens a log that is damaged; see Log.Salvage. It stays damaged until the new claim has written a state.
	Salvage bool
	// Probe makes Open test whether an empty store keeps its promises.
	Probe bool
	// Holds is called with the number of the entry by which the claim may hold the log, before Open makes sure that it does, and
	// with 0 if it does not. Whoever takes the log over later can then find this process. nil = nobody has to.
	Holds func(n uint64) error
	// Waiting is called once, with who holds the log, when Open waits for it.
	Waiting func(*View)
}

func (o Options) holds(n uint64) error {
	if o.Holds == nil {
		return nil
	}
	return o.Holds(n)
}

// HeldError reports who holds the log.
type HeldError struct{ View *View }

func (e *HeldError) Error() string { return fmt.Sprintf("the log is held by %s", e.View.Tip.By) }

// Is reports whether target is ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// MovedError reports where the log has moved to.
type MovedError struct{ To string }

func (e *MovedError) Error() string { return "the log has moved to " + e.To }

// Is reports whether target is ErrMoved.
func (e *MovedError) Is(target error) bool { return target == ErrMoved }

// LeftError reports why a log could not be opened, and that the new claim may still hold it.
type LeftError struct{ Err error }

func (e *LeftError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *LeftError) Unwrap() error { return e.Err }

// Open claims the log for this process. It takes over a holder that wrote nothing for
// Timing.Gone while Open observed the log; that holder can append nothing more.
// Observations of earlier calls count too, also of calls that did not wait.
func (l *Log) Open(ctx context.Context, o Options) (*Claim, error) {
	w := waiter{log: l, Options: o, begun: l.Clock.Now(), poll: l.Timing.Poll}
	if w.Claim == "" {
		w.Claim = NewID()
	}
	var v *View // what was seen at the last check
	for {
		now, err := l.viewOr(ctx, v, o.Salvage)
		if errors.Is(err, ErrUnreachable) && w.left() > 0 {
			l.forgetTip() // its holder could append nothing meanwhile
			if err := w.pause(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		v = now
		if to := v.MovedTo(); to != "" {
			return nil, &MovedError{To: to}
		}
		if v.Held() && !v.Salvaged && !w.gone(v) {
			if err := w.wait(ctx, v); err != nil {
				return nil, err
			}
			continue
		}
		if v.Tip.N == 0 && o.Probe {
			if err := l.Probe(ctx); err != nil {
				return nil, err
			}
		}
		c, err := l.claim(ctx, v, w.Options)
		if c != nil || err != nil {
			return c, err
		}
	}
}

// waiter is a call of Open that waits for the log.
type waiter struct {
	Options
	log   *Log
	begun time.Duration
	poll  time.Duration
	told  bool
}

// gone reports whether the holder may be taken over.
func (w *waiter) gone(v *View) bool {
	if w.Take == v.Tip.Claim || w.Dead != nil && w.Dead(v.Tip.Claim) {
		return true
	}
	return w.log.silence(v.Tip.ID) >= w.log.Timing.Gone
}

// silence returns how long a tip has been the last one seen.
func (l *Log) silence(tip string) time.Duration {
	now := l.Clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tip != tip {
		l.tip, l.seen = tip, now
	}
	return now - l.seen
}

// forgetTip starts the silence of the tip again.
func (l *Log) forgetTip() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tip = ""
}

// left returns how much longer to wait for the log.
func (w *waiter) left() time.Duration { return w.Wait - (w.log.Clock.Now() - w.begun) }

// wait waits until the next poll of a log that is held. It returns a HeldError when the time is used up.
func (w *waiter) wait(ctx context.Context, v *View) error {
	if w.left() <= 0 {
		return &HeldError{View: v}
	}
	if !w.told && w.Waiting != nil {
		w.Waiting(v)
	}
	w.told = true
	return w.pause(ctx)
}

// pause waits until the next poll.
func (w *waiter) pause(ctx context.Context) error {
	poll := w.poll
	w.poll = min(w.poll*3/2, 5*w.log.Timing.Poll)
	return w.log.Clock.Sleep(ctx, max(0, min(poll, w.left())))
}

// claim opens the log at the number after the tip. It returns nil without an error if
// another process was faster.
func (l *Log) claim(ctx context.Context, v *View, o Options) (*Claim, error) {
	c := &Claim{log: l, ctx: ctx, id: o.Claim, by: o.By, since: time.Now().UTC().Truncate(time.Second),
		n: v.Tip.N, hash: v.hash, stateAt: v.State.N, states: v.State.States}
	e := c.next(Entry{Kind: KindOpen})
	if v.Held() {
		e.Takes = v.Tip.Claim
	}
	data, err := e.encode()
	if err != nil {
		return nil, err
	}
	sure, err := c.create(e, data)
	switch {
	case errors.Is(err, ErrTaken):
		return nil, nil
	case errors.Is(err, ErrDenied):
		return nil, err
	case err != nil:
		return nil, &LeftError{err}
	}
	marked := o.holds(e.N)
	// Rule 3, check after opening: a late open may have filled a gap that compaction
	// left. Then there are entries with higher numbers.
	now, failed, err := l.lookAfter(ctx, o.Salvage)
	if err != nil {
		return nil, &LeftError{failed}
	}
	if now.Tip.ID != e.ID {
		return nil, errors.Join(failed, o.holds(0))
	}
	failed = cmp.Or(failed, marked)
	c.view, c.n, c.hash, c.marks, c.heard = now, e.N, hash(data), now.marks, l.Clock.Now()
	if failed != nil {
		return nil, c.giveBack(ctx, failed)
	}
	if !sure {
		if _, err := c.Append(Entry{Kind: KindAlive}); errors.Is(err, ErrTaken) {
			return nil, nil
		} else if err != nil {
			return nil, &LeftError{err}
		}
	}
	c.taken = e.Takes
	c.start()
	return c, nil
}

// briefly is how long a command that is ending tries to read or close the log.
const briefly = 5 * time.Second

// lookAfter reads the log after it was opened. If that fails, as by an interrupt, it reads once more, briefly,
// so that the log need not stay held by a process that has ended. failed is the error of the first read.
func (l *Log) lookAfter(ctx context.Context, salvage bool) (v *View, failed, err error) {
	if v, failed = l.viewOr(ctx, nil, salvage); failed == nil {
		return v, nil, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), briefly)
	defer cancel()
	v, err = l.viewOr(ctx, nil, salvage)
	return v, failed, err
}

// giveBack releases a log whose opening could not be completed, and returns why.
func (c *Claim) giveBack(ctx context.Context, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), briefly)
	defer cancel()
	if err := c.Close(ctx); err != nil {
		return &LeftError{why}
	}
	return why
}
