package sharedlog

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"
)

// Log is a log of entries in a store.
type Log struct {
	Store  Store
	Clock  Clock
	Timing Timing
	Kept   Kept // what readers keep

	// Away is called when the store cannot be reached, with how long the log waits for it,
	// and again with a nil error when the store can be reached again. nil = no callback.
	Away func(since time.Time, patience time.Duration, err error)

	mu    sync.Mutex
	since time.Time // since when the store cannot be reached; zero = it can be

	tip  string        // the id of the tip that a waiter saw last
	seen time.Duration // when this tip was first seen
}

// New returns the log in a store.
func New(s Store, t Timing) *Log { return &Log{Store: s, Clock: System{}, Timing: t} }

// lasting reports whether an error stays the same when the call is tried again.
func lasting(err error) bool {
	for _, e := range []error{ErrExists, fs.ErrNotExist, ErrDenied, ErrDamaged, ErrNewer} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// call makes one call of the store, limited to Timing.Call. patience is how long the caller
// tries again; 0 = not at all. An error after ctx has ended reports nothing about the store.
func (l *Log) call(ctx context.Context, patience time.Duration, do func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, l.Timing.Call)
	defer cancel()
	err := do(limited)
	if err == nil || ctx.Err() == nil {
		l.tell(patience, err)
	}
	return err
}

// tell records whether the store can be reached, and calls Away when that changes.
func (l *Log) tell(patience time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch away := err != nil && !lasting(err); {
	case away && patience == 0:
		return
	case away && l.since.IsZero():
		l.since = time.Now()
	case !away && !l.since.IsZero():
		l.since = time.Time{}
		err = nil
	default:
		return
	}
	if l.Away != nil {
		l.Away(l.since, patience, err)
	}
}

// patiently repeats a call that reads or deletes until it has an answer.
func (l *Log) patiently(ctx context.Context, patience time.Duration, do func(context.Context) error) error {
	begun, wait := l.Clock.Now(), l.firstWait()
	for {
		err := l.call(ctx, patience, do)
		switch {
		case err == nil || lasting(err):
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case l.Clock.Now()-begun >= patience:
			return errors.Join(ErrUnreachable, err)
		}
		if err := l.Clock.Sleep(ctx, wait); err != nil {
			return err
		}
		wait = l.nextWait(wait)
	}
}

// The waits between two tries of a call.
func (l *Log) firstWait() time.Duration { return max(l.Timing.Poll/20, time.Millisecond) }

func (l *Log) nextWait(d time.Duration) time.Duration {
	return min(2*d, max(l.Timing.Poll, time.Millisecond))
}

// reading returns how long a command that only reads waits for a store.
func (l *Log) reading() time.Duration { return min(l.Timing.Patience, 15*time.Second) }

func (l *Log) get(ctx context.Context, key string) (data []byte, err error) {
	err = l.patiently(ctx, l.reading(), func(ctx context.Context) (err error) {
		data, err = l.Store.Get(ctx, key)
		return err
	})
	return data, err
}

func (l *Log) list(ctx context.Context, prefix string) (keys []string, err error) {
	err = l.patiently(ctx, l.reading(), func(ctx context.Context) (err error) {
		keys, err = l.Store.List(ctx, prefix)
		return err
	})
	return keys, err
}
