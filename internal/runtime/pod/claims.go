package pod

import (
	"context"
	"errors"

	"deployster/internal/runtime/claims"
)

// Claim implements remote.Place. A Pod outlives none of the states that use its cluster, so that nothing is recorded in it: an
// exclusive set there purges nothing.
func (c *client) Claim(_ context.Context, q claims.Request) ([]claims.Record, error) {
	if q.Step == claims.Read {
		return nil, errors.New("a cluster keeps no record of what states have declared")
	}
	return nil, nil
}

// Claim implements remote.Place.
func (*receiver) Claim(context.Context, claims.Request) ([]claims.Record, error) { return nil, nil }
