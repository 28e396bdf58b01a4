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

// OtherClaims returns what finds out what states of other lineages have declared on a host, or here.
func (p *Places) OtherClaims(lineage string) func(context.Context, *runner.Host) ([]claims.Record, error) {
	return func(ctx context.Context, h *runner.Host) ([]claims.Record, error) {
		return p.Claim(ctx, h, claims.Request{Step: claims.Read, Record: claims.Record{Lineage: lineage}})
	}
}
