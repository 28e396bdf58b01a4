package agent

import (
	"context"

	"deployster/internal/runtime/claims"
)

// Claim implements remote.Place.
func (m *Machine) Claim(ctx context.Context, q claims.Request) ([]claims.Record, error) {
	return claims.Serve(ctx, m.o.DataDir, q)
}
