package sharedlog

import (
	"context"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Close releases the log, and then removes what no reader needs. It does nothing for a
// claim that has lost the log.
func (c *Claim) Close(ctx context.Context) error {
	c.mu.Lock()
	c.hasty = true
	stateAt, lost := c.stateAt, c.err != nil
	c.mu.Unlock()
	c.stop()
	if lost {
		return nil
	}
	if _, err := c.Append(Entry{Kind: KindClose, States: c.States()}); err != nil {
		return err
	}
	c.end()
	c.mark(ctx)
	if stateAt > c.view.State.N {
		c.compact(ctx, stateAt)
	}
	return nil
}

// Move ends the log for good, and records where it has moved to.
func (c *Claim) Move(to string) error {
	c.stop()
	_, err := c.Append(Entry{Kind: KindMoved, To: to})
	if err == nil {
		c.end()
		c.mark(context.WithoutCancel(c.ctx))
	}
	return err
}

// end makes every later append fail: this claim no longer holds the log.
func (c *Claim) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = ErrTaken
}

// compact removes the entries before the state that this claim has written, and the state objects
// that this state does not name. What it cannot remove harms nothing, and the next holder tries
// again. compact is harmless however late it runs: nobody needs an entry before that state, except
// a holder that was suspended and taken over, and the tombstone with its next number stays.
func (c *Claim) compact(ctx context.Context, stateAt uint64) {
	l := c.log
	keys, err := l.list(ctx, logPrefix)
	if err != nil {
		return
	}
	var remove []string
	var unread []uint64
	for _, key := range keys {
		n := number(key, logPrefix)
		if n == 0 || n >= stateAt { // rule 5, never below
			continue
		}
		if e, known := c.view.read[n]; !known {
			unread = append(unread, n)
		} else if !e.isTombstone() {
			remove = append(remove, key)
		}
	}
	// Older entries are nearly all tombstones. Each run reads a few of them.
	const few = 64
	rand.Shuffle(len(unread), func(i, j int) { unread[i], unread[j] = unread[j], unread[i] })
	for _, n := range unread[:min(few, len(unread))] {
		if e, _, err := l.entry(ctx, n); err == nil && !e.isTombstone() {
			remove = append(remove, logKey(n))
		}
	}
	l.remove(ctx, append(remove, c.garbage(ctx, stateAt)...))
}

// isTombstone reports whether an entry must stay (rule 4, leave the tombstones): its number
// is the one at which the holder that was taken over tries to append, if it ever resumes.
func (e Entry) isTombstone() bool { return e.Kind == KindOpen && e.Takes != "" }

// garbage returns the keys of state objects that no entry names.
func (c *Claim) garbage(ctx context.Context, stateAt uint64) (remove []string) {
	keys, err := c.log.list(ctx, statePrefix)
	if err != nil {
		return nil
	}
	named := c.States()
	for _, key := range keys {
		object, _ := splitPart(key)
		if n := number(key, statePrefix); n == 0 || n >= stateAt {
			continue
		}
		if !slices.ContainsFunc(named, func(s State) bool { return s.Object == object }) {
			remove = append(remove, key)
		}
	}
	return remove
}

func (l *Log) remove(ctx context.Context, keys []string) {
	var group errgroup.Group
	group.SetLimit(16)
	for _, key := range keys {
		group.Go(func() error {
			return l.call(ctx, 0, func(ctx context.Context) error { return l.Store.Delete(ctx, key) })
		})
	}
	_ = group.Wait() // the next holder removes what is left
}
