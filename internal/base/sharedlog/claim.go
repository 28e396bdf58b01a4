package sharedlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"
)

// Claim is the right of this process to append to a log, until another takes the log
// over. It is safe for concurrent use.
type Claim struct {
	log   *Log
	ctx   context.Context // of the command: after its end the patience is short
	id    string
	by    By
	since time.Time
	view  *View  // the log as it was opened
	taken string // the claim that was taken over; "" = none

	appending sync.Mutex // one append at a time

	mu      sync.Mutex
	n       uint64 // of the last entry
	hash    string // of the last entry
	stateAt uint64
	states  []State
	marks   []string      // keys of the marks that are known; the last is the newest
	heard   time.Duration // when the last entry was sent
	hasty   bool          // the patience is short
	err     error         // why nothing can be appended any more
	missed  func()        // called when the store did not answer; may be nil

	quit chan struct{} // closed: no more alive entries
	done chan struct{}
}

// TakenError reports who has taken over the log.
type TakenError struct {
	By By
	At time.Time
}

func (e *TakenError) Error() string {
	return fmt.Sprintf("the log was taken over by %s at %s", e.By, e.At.Format(time.RFC3339))
}

// Is reports whether target is ErrTaken.
func (e *TakenError) Is(target error) bool { return target == ErrTaken }

// ID returns the id of the claim.
func (c *Claim) ID() string { return c.id }

// View returns the log as it was opened.
func (c *Claim) View() *View { return c.view }

// Took returns the claim that was taken over, whose holder had not closed the log; "" = none.
func (c *Claim) Took() string { return c.taken }

// States returns the states that are kept: the present one, then earlier ones.
func (c *Claim) States() []State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.states
}

// Err returns why nothing can be appended any more; nil = appending is possible.
func (c *Claim) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// whenUnanswered sets f to be called each time that the store has not answered an append.
func (c *Claim) whenUnanswered(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missed = f
}

func (c *Claim) tellMissed() {
	c.mu.Lock()
	f := c.missed
	c.mu.Unlock()
	if f != nil {
		f()
	}
}

// Age returns how long ago the last entry was sent.
func (c *Claim) Age() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.Clock.Now() - c.heard
}

// next fills in the fields of an entry that follows the last one.
func (c *Claim) next(e Entry) Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.Format, e.N, e.ID, e.Prev = Format, c.n+1, NewID(), c.hash
	e.Claim, e.By, e.Since, e.Time = c.id, c.by, c.since, time.Now().UTC().Truncate(time.Millisecond)
	if e.StateAt = c.stateAt; e.Kind == KindState {
		e.StateAt = e.N
	}
	return e
}

// Append appends an entry. A nil error means that the entry counts: nobody had taken
// the log over before. After an error the Claim can append nothing more.
func (c *Claim) Append(e Entry) (Entry, error) {
	c.appending.Lock()
	defer c.appending.Unlock()
	if err := c.Err(); err != nil {
		return e, err
	}
	appended, sure, err := c.append(e)
	// Rule 2, confirm: an entry whose answer from the store was lost counts only when a
	// later entry has its answer. The first may have been read, compacted and created again.
	for err == nil && !sure && e.Kind != KindClose { // nobody acts on a close
		again := Entry{Kind: KindAlive}
		if e.Kind == KindMoved {
			again = e // KindMoved must stay the tip
		}
		_, sure, err = c.append(again)
	}
	if err != nil {
		c.mu.Lock()
		c.err = err
		c.mu.Unlock()
	}
	return appended, err
}

func (c *Claim) append(e Entry) (_ Entry, sure bool, err error) {
	e = c.next(e)
	data, err := e.encode()
	if err != nil {
		return e, false, err
	}
	sent := c.log.Clock.Now()
	if sure, err = c.create(e, data); err != nil {
		return e, false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n, c.hash, c.stateAt, c.heard = e.N, hash(data), e.StateAt, sent
	if e.Kind == KindState {
		c.states = e.States
	}
	e.Body = nil
	c.view.read[e.N] = e
	return e, sure, nil
}

// create makes the object of an entry. sure reports that the answer to this call
// arrived. Without it the object exists, and only a later entry shows that it counts.
// ErrTaken: the object is another claim's.
func (c *Claim) create(e Entry, data []byte) (sure bool, err error) {
	l := c.log
	ctx := context.WithoutCancel(c.ctx)
	begun, wait, lost := l.Clock.Now(), l.firstWait(), false
	for {
		err := l.call(ctx, c.patience(), func(ctx context.Context) error { return l.Store.Create(ctx, logKey(e.N), data) })
		if err == nil {
			return !lost, nil
		}
		if errors.Is(err, ErrDenied) {
			return false, err
		}
		// Rule 1, own answer: the existing object may be ours. Client libraries retry
		// by themselves, so this can be so even if no answer was lost here.
		if errors.Is(err, ErrExists) {
			if err = c.compare(ctx, e); err == nil {
				return false, nil
			} else if lasting(err) || errors.Is(err, ErrTaken) {
				return false, err
			}
		}
		if !lost {
			c.tellMissed()
		}
		lost = true
		if l.Clock.Now()-begun >= c.patience() {
			return false, errors.Join(ErrUnreachable, err)
		}
		if err := l.Clock.Sleep(ctx, wait); err != nil {
			return false, err
		}
		wait = l.nextWait(wait)
	}
}

// compare reads whose entry exists: nil = ours, ErrTaken = another claim's. Any other
// error means that this is unknown.
func (c *Claim) compare(ctx context.Context, e Entry) error {
	l := c.log
	var data []byte
	err := l.call(ctx, c.patience(), func(ctx context.Context) (err error) {
		data, err = l.Store.Get(ctx, logKey(e.N))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return errAgain // compacted meanwhile
	}
	if err != nil {
		return err
	}
	there, err := decode(e.N, data)
	if err != nil {
		return err
	}
	if there.ID == e.ID {
		return nil
	}
	return &TakenError{By: there.By, At: there.Time}
}

// patience returns how long to wait for the store: briefly once the command is ending.
func (c *Claim) patience() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hasty || c.ctx.Err() != nil {
		return min(c.log.Timing.Patience, 5*time.Second)
	}
	return c.log.Timing.Patience
}
