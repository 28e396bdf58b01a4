package images

import (
	"context"
	"errors"
	"maps"
	"slices"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// Exactly fetches images with these digests, by reference, that are not here any more: whatever their names refer to now.
func (rs *Resolver) Exactly(ctx context.Context, pins map[string]string) error {
	for _, reference := range slices.Sorted(maps.Keys(pins)) {
		if _, err := rs.runtime.Resolve(ctx, pins[reference]); !errors.Is(err, runner.ErrNoImage) {
			continue
		}
		full, inName, err := imagestore.FullName(reference)
		if err == nil && inName == "" {
			full = imagestore.WithDigest(full, pins[reference])
		}
		if err == nil {
			_, err = rs.runtime.Obtain(ctx, runner.Wanted{Reference: full})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
