package sharedlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"
)

// Claim is a log that is this process's own, until another takes it over. It is
// safe for concurrent use.
type Claim struct {
	log   *Log
	ctx   context.Context // of the command: when it has ended, a store is not waited for
	id    string
	by    By
	since time.Time
	view  *View  // as it was opened
	taken string // the claim of one who had not let go of it

	appending sync.Mutex // one append at a time

	mu      sync.Mutex
	n       uint64 // of the last entry
	hash    string // of that
	stateAt uint64
	states  []State
	heard   time.Duration // when the last entry was sent
	hasty   bool          // the store is not waited for
	err     error         // why nothing can be appended any more
	missed  func()        // told when the store did not answer; may be nil

	quit chan struct{} // closed: no more signs of life
	done chan struct{}
}

// TakenError says who has taken a log over.
type TakenError struct {
	By By
	At time.Time
}

func (e *TakenError) Error() string {
	return fmt.Sprintf("the log was taken over by %s at %s", e.By, e.At.Format(time.RFC3339))
}

// Is reports whether target is ErrTaken.
func (e *TakenError) Is(target error) bool { return target == ErrTaken }

// ID is the id of the claim.
func (c *Claim) ID() string { return c.id }

// View is the log as it was opened.
func (c *Claim) View() *View { return c.view }

// Took is the claim of the holder before, who had not let go of the log; "" = he had.
func (c *Claim) Took() string { return c.taken }

// States are the states that are kept: the present one, then earlier ones.
func (c *Claim) States() []State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.states
}

// Err says why nothing can be appended any more; nil = it can.
func (c *Claim) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// whenUnanswered has f called each time when the store has not answered an append.
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

// Age is how long ago the last entry was sent.
func (c *Claim) Age() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.Clock.Now() - c.heard
}

// next completes an entry that follows the last one.
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

// Append returns when the entry is in the log for good: nobody had taken over
// before. After an error nothing more can be appended.
func (c *Claim) Append(e Entry) (Entry, error) {
	c.appending.Lock()
	defer c.appending.Unlock()
	if err := c.Err(); err != nil {
		return e, err
	}
	appended, sure, err := c.append(e)
	// Rule 2, confirm: an entry whose answer was lost counts when a later one has
	// its answer. The first may have been read, compacted and created again.
	for err == nil && !sure && e.Kind != KindClose { // nothing is done because of a close
		again := Entry{Kind: KindAlive}
		if e.Kind == KindMoved {
			again = e // it is to stay the tip
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

// create makes the object of an entry. Sure says that its own answer came; without,
// the entry is there, and only a later one shows that it counts. ErrTaken: another's
// is there.
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
		// Rule 1, own answer: what is there may be ours. Libraries try again by
		// themselves, so that is so also where no answer was lost here.
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

// compare looks whose entry is there: nil = ours. Any error but ErrTaken says that
// it is not known.
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

// patience is how long the store may be away: little, once the command is to end.
func (c *Claim) patience() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hasty || c.ctx.Err() != nil {
		return min(c.log.Timing.Patience, 5*time.Second)
	}
	return c.log.Timing.Patience
}
