package sharedlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A mark is an object without content whose key has the number of an entry and the hash of its object. The newest entry of a log has no
// entry after it that names its hash: by the mark its loss is noticed. The holder makes a mark when it has closed or moved the log,
// and while it holds the log soon after an entry; only then it removes earlier marks. Each entry that a mark names has existed.
type mark struct {
	n    uint64
	hash string
	key  string
}

const markPrefix = logPrefix + "tip-" // listed with the entries, so that it costs readers nothing

func newMark(n uint64, hash string) mark {
	return mark{n, hash, fmt.Sprintf("%s%016d-%s", markPrefix, n, hash)}
}

// parseMark returns the mark with that key; ok is false for other keys.
func parseMark(key string) (m mark, ok bool) {
	_, hash, _ := strings.Cut(strings.TrimPrefix(key, markPrefix), "-")
	n := number(key, markPrefix)
	return mark{n, hash, key}, n > 0 && strings.HasPrefix(key, markPrefix)
}

// mark makes a mark of the last entry, unless there is one, and removes the earlier ones. Without it only the loss of that entry
// is not noticed.
func (c *Claim) mark(ctx context.Context) {
	c.mu.Lock()
	m, before := newMark(c.n, c.hash), c.marks
	c.mu.Unlock()
	if len(before) > 0 && before[len(before)-1] == m.key {
		return
	}
	err := c.log.call(ctx, 0, func(ctx context.Context) error { return c.log.Store.Create(ctx, m.key, nil) })
	if err != nil && !errors.Is(err, ErrExists) {
		return
	}
	c.mu.Lock()
	c.marks = []string{m.key}
	c.mu.Unlock()
	c.log.remove(ctx, before)
}

// tops are the entries and marks of a log with the highest numbers.
type tops struct {
	last  uint64 // number of the last entry; 0 = there is none
	mark  mark
	marks []string // all keys, sorted by their numbers
}

func (l *Log) listTops(ctx context.Context) (t tops, keys []string, err error) {
	keys, err = l.list(ctx, logPrefix)
	for _, key := range keys {
		t.last = max(t.last, number(key, logPrefix))
		if m, ok := parseMark(key); ok {
			t.marks = append(t.marks, key)
			if m.n >= t.mark.n {
				t.mark = m
			}
		}
	}
	return t, keys, err
}

// tops lists a log. If neither the entry of a mark nor a later one exists, the log is damaged.
func (l *Log) tops(ctx context.Context) (tops, error) {
	t, _, err := l.listTops(ctx)
	if err != nil || t.mark.n <= t.last {
		return t, err
	}
	// A list need not be of one moment. What the mark names was created before this second list.
	again, _, err := l.listTops(ctx)
	if err == nil && again.last < t.mark.n {
		err = fmt.Errorf("%w: %s is gone, and %s shows that it existed", ErrDamaged, logKey(t.mark.n), t.mark.key)
	}
	return again, err
}

// fits returns an error if the tip is not the entry that its mark names.
func (t tops) fits(data []byte) error {
	if t.mark.n == t.last && t.mark.hash != hash(data) {
		return fmt.Errorf("%w: %s is not the entry that %s names", ErrDamaged, logKey(t.last), t.mark.key)
	}
	return nil
}
