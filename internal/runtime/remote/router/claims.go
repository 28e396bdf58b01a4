package router

import (
	"context"

	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// Claim does what a request is for on a host, or here, and returns what other states have declared there.
func (p *Places) Claim(ctx context.Context, h *runner.Host, q claims.Request) ([]claims.Record, error) {
	if h == nil {
		if p.o.DataDir == "" {
			return nil, nil
		}
		return claims.Serve(ctx, p.o.DataDir, q)
	}
	at := p.host(*h)
	if err := at.expect(ctx, h.Machine); err != nil {
		return nil, err
	}
	return again(ctx, at, func(c *remote.Client) ([]claims.Record, error) { return c.Claim(ctx, q) })
}
