package sharedlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ErrNoLocks reports that a store ignores the condition of Create, or does not list what exists.
var ErrNoLocks = errors.New("this store does not hold locks")

// Probe tests, as far as possible, whether the store does what Store promises: some
// services accept a condition of their protocol and ignore it. Its calls have the limits
// of a reader.
func (l *Log) Probe(ctx context.Context) error {
	key := "probe/" + NewID()
	create := func(text string) error {
		return l.patiently(ctx, l.reading(), func(ctx context.Context) error { return l.Store.Create(ctx, key, []byte(text)) })
	}
	if err := create("first"); err != nil && !errors.Is(err, ErrExists) { // it is ours: the answer was lost
		return unprobed(err)
	}
	defer l.remove(context.WithoutCancel(ctx), []string{key}) // an object that stays harms nothing
	if err := create("second"); !errors.Is(err, ErrExists) {
		if err != nil {
			return unprobed(err)
		}
		return fmt.Errorf("%w: it has created an object twice", ErrNoLocks)
	}
	data, err := l.get(ctx, key)
	if err == nil && string(data) != "first" {
		return fmt.Errorf("%w: it has overwritten an existing object", ErrNoLocks)
	}
	if err != nil {
		return unprobed(err)
	}
	keys, err := l.list(ctx, "probe/")
	if err == nil && !slices.Contains(keys, key) {
		return fmt.Errorf("%w: it does not list what was just created", ErrNoLocks)
	}
	return unprobed(err)
}

// unprobed reports about an error that it is not known whether the store holds locks; nil stays nil.
func unprobed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("it is not known whether the store holds locks: %w", err)
}
