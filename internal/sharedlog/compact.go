package sharedlog

import (
	"context"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Close lets go of the log, and then removes what no reader needs. A claim that was
// lost has nothing to let go of.
func (c *Claim) Close(ctx context.Context) error {
	c.mu.Lock()
	c.hasty = true
	stateAt, lost := c.stateAt, c.err != nil
	c.mu.Unlock()
	c.stop()
	if lost {
		return nil
	}
	if _, err := c.Append(Entry{Kind: KindClose}); err != nil {
		return err
	}
	c.end()
	if stateAt > c.view.State.N {
		c.compact(ctx, stateAt)
	}
	return nil
}

// Move ends the log for good, and says where it went.
func (c *Claim) Move(to string) error {
	c.stop()
	_, err := c.Append(Entry{Kind: KindMoved, To: to})
	if err == nil {
		c.end()
	}
	return err
}

// end has every later append fail: the log is another's or nobody's.
func (c *Claim) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = ErrTaken
}

// compact removes entries before the state that this claim has written, and objects
// that it does not name. What cannot be removed is in nobody's way, and the next
// holder tries again. It is harmless however late it comes: nothing that lies before
// that state is needed by anyone but a sleeper, whose number keeps its tombstone.
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
	// What is older is nearly all tombstones. A few are looked at each time.
	const few = 64
	rand.Shuffle(len(unread), func(i, j int) { unread[i], unread[j] = unread[j], unread[i] })
	for _, n := range unread[:min(few, len(unread))] {
		if e, _, err := l.entry(ctx, n); err == nil && !e.isTombstone() {
			remove = append(remove, logKey(n))
		}
	}
	l.remove(ctx, append(remove, c.garbage(ctx, stateAt)...))
}

// isTombstone says of an entry that it stays (rule 4, leave the tombstones): its number is
// where the holder who was taken over tries to append, if it ever wakes up.
func (e Entry) isTombstone() bool { return e.Kind == KindOpen && e.Takes != "" }

// garbage are objects of states that nothing names.
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
