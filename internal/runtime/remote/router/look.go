package router

import (
	"context"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// Look returns where plugs lead on a host.
func (p *Places) Look(ctx context.Context, h runner.Host, plugs []remote.Plug) ([]remote.Seen, error) {
	return again(ctx, p.host(h), func(c *remote.Client) ([]remote.Seen, error) { return c.Look(ctx, plugs) })
}

// Inspect requests what a host reports about itself when it is checked.
func (p *Places) Inspect(ctx context.Context, h runner.Host, i remote.Inspection) (remote.Found, error) {
	return again(ctx, p.host(h), func(c *remote.Client) (remote.Found, error) { return c.Inspect(ctx, i) })
}
