package router

import (
	"context"
	"errors"

	"deployster/internal/runtime/runner"
)

// Launch implements runner.Launcher; on hosts for queries only.
func (p *Places) Launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	if s.Settings.Host == nil {
		return p.o.Local.Launch(ctx, s)
	}
	if err := p.o.mayRun(s); err != nil {
		return nil, err
	}
	h := p.host(*s.Settings.Host)
	if err := h.expect(ctx, s.Settings.Host.Machine); err != nil {
		return nil, err
	}
	return h.launch(ctx, s)
}

// launch starts a program on the host. The program ends with the connection, and the caller starts
// it again.
func (h *host) launch(ctx context.Context, s runner.Spec) (runner.Process, error) {
	s.Settings.Host = nil // the host runs it locally
	for sentAgain := false; ; sentAgain = true {
		client, err := h.connect(ctx)
		if err != nil {
			return nil, h.explain(err)
		}
		var p runner.Process
		if err = h.send(ctx, client, s); err == nil {
			p, err = client.Launch(ctx, s)
		}
		if err == nil {
			go func() {
				_, _ = p.Wait() // the caller gets its result, too
				h.rest()
			}()
			return &launchedThere{p, h}, nil
		}
		h.rest()
		if !errors.Is(err, runner.ErrNoImage) || sentAgain {
			return nil, h.explain(err)
		}
		h.forget(s.Digest)
	}
}

// launchedThere is a program on a host, whose errors name the host.
type launchedThere struct {
	runner.Process
	host *host
}

// Wait implements runner.Process.
func (p *launchedThere) Wait() (runner.Result, error) {
	res, err := p.Process.Wait()
	if isLost(err) {
		return res, p.host.explain(err)
	}
	return res, p.host.named(err)
}

// mayRun returns an error if an invocation gives a host as a whole to an image that may not have it.
func (o Options) mayRun(s runner.Spec) error {
	if !s.Settings.WholeMachine || o.MayHaveMachine == nil {
		return nil
	}
	return o.MayHaveMachine(s.Reference)
}
