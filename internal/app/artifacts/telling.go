package artifacts

import (
	"context"

	"deployster/internal/runtime/artifact"
)

// Telling is a store that reports files that were not here before.
type Telling struct {
	artifact.Store
	Fetched func(artifact.Held)
}

// Fetch implements artifact.Store.
func (t Telling) Fetch(ctx context.Context, o artifact.Order) (artifact.Held, error) {
	held, err := t.Store.Fetch(ctx, o)
	if err == nil && held.Fetched {
		t.Fetched(held)
	}
	return held, err
}
