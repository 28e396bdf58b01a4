package sharedlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ErrNoLocks is a store that overwrites what it was told not to.
var ErrNoLocks = errors.New("this store does not hold locks")

// Probe looks whether a store keeps its promises, as far as that can be seen: some
// that speak a protocol take conditions and pass over them.
func Probe(ctx context.Context, s Store) error {
	key := "probe/" + NewID()
	if err := s.Create(ctx, key, []byte("first")); err != nil {
		return err
	}
	defer func() { _ = s.Delete(context.WithoutCancel(ctx), key) }() // one that stays is in nobody's way
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
