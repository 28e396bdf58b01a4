package place

import (
	"context"
	"errors"

	"deployster/internal/runtime/claims"
)

// Claim implements remote.Place. A namespace keeps no record of what states declare, so that an
// exclusive set there purges nothing.
func (*Place) Claim(_ context.Context, q claims.Request) ([]claims.Record, error) {
	if q.Step == claims.Read {
		return nil, errors.New("a cluster keeps no record of what states have declared")
	}
	return nil, nil
}
