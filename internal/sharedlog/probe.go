package sharedlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ErrNoLocks says that a store ignores the condition of Create, or does not list what exists.
var ErrNoLocks = errors.New("this store does not hold locks")

// Probe tests, as far as possible, whether a store does what Store promises: some
// services accept a condition of their protocol and ignore it.
func Probe(ctx context.Context, s Store) error {
	key := "probe/" + NewID()
	if err := s.Create(ctx, key, []byte("first")); err != nil {
		return err
	}
	defer func() { _ = s.Delete(context.WithoutCancel(ctx), key) }() // an object that stays harms nothing
	if err := s.Create(ctx, key, []byte("second")); !errors.Is(err, ErrExists) {
		if err != nil {
			return err
		}
		return fmt.Errorf("%w: it has created an object twice", ErrNoLocks)
	}
	data, err := s.Get(ctx, key)
	if err == nil && string(data) != "first" {
		return fmt.Errorf("%w: it has overwritten an object that it was told not to", ErrNoLocks)
	}
	if err != nil {
		return err
	}
	keys, err := s.List(ctx, "probe/")
	if err == nil && !slices.Contains(keys, key) {
		return fmt.Errorf("%w: it does not list what was just created", ErrNoLocks)
	}
	return err
}
