package router

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// run carries out an invocation on the host. When the connection is lost, run repeats a
// query, and adopts an action and returns its result as if the connection had never been
// lost. It sends an image again that was removed from the host meanwhile.
func (h *host) run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	s.Settings.Host = nil // the host runs it locally
	s.Stdout, s.Stderr = once(s.Stdout), once(s.Stderr)
	var all losses
	for sentAgain := false; ; {
		client, err := h.connect(ctx)
		if err != nil {
			return runner.Result{}, h.explain(err)
		}
		res, err := h.try(ctx, client, s)
		h.rest()
		var lost *remote.LostError
		switch {
		case errors.Is(err, runner.ErrNoImage) && !sentAgain: // nothing was begun
			h.forget(s.Digest)
			sentAgain = true
			continue
		case !errors.As(err, &lost):
			return res, h.named(err)
		case s.Kind == runner.Action && !lost.Unsent:
			if begun, res, err := h.recover(ctx, s, client.Welcome().Boot, err); begun {
				return res, err
			}
		}
		if err := all.wait(ctx, h, err); err != nil {
			return res, err
		}
	}
}

// try sends what an invocation needs, and carries it out over a connection.
func (h *host) try(ctx context.Context, c *remote.Client, s runner.Spec) (runner.Result, error) {
	var lost *remote.LostError
	switch err := h.send(ctx, c, s); {
	case errors.As(err, &lost):
		return runner.Result{}, &remote.LostError{Err: lost.Err, Unsent: true}
	case err != nil:
		return runner.Result{}, h.explain(err)
	}
	return c.Run(ctx, s)
}

func isLost(err error) bool {
	return diag.Is[*remote.LostError](err)
}

// sameBoot reports whether the machine has not rebooted meanwhile.
func (h *host) sameBoot(boot string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.client != nil && h.client.Welcome().Boot == boot
}

// recover finds out what happened to an action whose connection was lost, and whether
// it may have begun. boot identifies the boot of the machine at that time.
func (h *host) recover(ctx context.Context, s runner.Spec, boot string, lost error) (begun bool, res runner.Result, err error) {
	unknown := func(why error) (bool, runner.Result, error) { return true, runner.Result{}, h.unknown(s, why, false) }
	if s.ID == "" {
		return unknown(lost)
	}
	out, err := h.Adopt(ctx, s.ID, runner.Watch{Stdout: s.Stdout, Stderr: s.Stderr})
	switch {
	case err != nil:
		return unknown(fmt.Errorf("%w; %w", lost, err))
	case out.NoTrace && h.sameBoot(boot):
		return false, res, nil // the agent has ended, and would have left a trace of the action
	case out.Fate == runner.Unknown:
		return true, runner.Result{}, h.unknown(s, fmt.Errorf("%w, and %s", lost, out.Why), true)
	case out.Fate == runner.NotBegun:
		if err := h.Discard(ctx, s.ID); err != nil {
			return unknown(err)
		}
		return false, res, nil
	}
	if s.Ended != nil {
		if err := s.Ended(out.Result, nil); err != nil {
			return true, out.Result, err
		}
	}
	// The end is recorded: the next command that uses the ID finds what Discard leaves.
	_ = h.Discard(ctx, s.ID)
	return true, out.Result, nil
}

// unknown returns the error for an action whose end the host does not know.
func (h *host) unknown(s runner.Spec, why error, ended bool) error {
	if !diag.Is[*runner.HostError](why) {
		why = &runner.HostError{Host: h.Host, Err: why}
	}
	return &runner.UnknownError{Container: s.ID, Err: why, Over: ended}
}

// expect returns an error if another machine answers at the host than the given one; "" = any.
func (h *host) expect(ctx context.Context, machine string) error {
	if machine == "" {
		return nil
	}
	_, err := again(ctx, h, func(c *remote.Client) (bool, error) {
		if answers := c.Welcome().Facts.Machine; answers != machine {
			return false, h.explain(fmt.Errorf("it is the machine %s now, and the recorded object is on %s", answers, machine))
		}
		return true, nil
	})
	return err
}

// expected is a host with the machine that the state file records; "" = none is recorded.
type expected struct {
	*host
	machine string
}

// Adopt implements runner.Adopter.
func (e *expected) Adopt(ctx context.Context, id string, w runner.Watch) (runner.Outcome, error) {
	if err := e.expect(ctx, e.machine); err != nil {
		return runner.Outcome{}, err
	}
	return e.host.Adopt(ctx, id, w)
}

// Discard implements runner.Adopter.
func (e *expected) Discard(ctx context.Context, id string) error {
	if err := e.expect(ctx, e.machine); err != nil {
		return err
	}
	return e.host.Discard(ctx, id)
}

// Running reports whether an action still runs there.
func (e *expected) Running(ctx context.Context, id string) (bool, error) {
	if err := e.expect(ctx, e.machine); err != nil {
		return false, err
	}
	return e.host.Running(ctx, id)
}

// named names the host in the error of a call that could not reach the place behind the host.
func (h *host) named(err error) error {
	if diag.Is[*remote.PlaceError](err) {
		return h.explain(err)
	}
	return err
}

// unasked returns the error for an action that the host could not answer for. It is a
// *runner.HostError, whatever failed there: other hosts are not concerned.
func (h *host) unasked(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || diag.Is[*runner.HostError](err) {
		return err
	}
	return h.explain(err)
}

// Adopt implements runner.Adopter.
func (h *host) Adopt(ctx context.Context, id string, w runner.Watch) (runner.Outcome, error) {
	w.Stdout, w.Stderr = once(w.Stdout), once(w.Stderr)
	if w.Running != nil {
		w.Running = sync.OnceFunc(w.Running)
	}
	out, err := again(ctx, h, func(c *remote.Client) (runner.Outcome, error) {
		fromBegin(w.Stdout)
		fromBegin(w.Stderr)
		return c.Adopt(ctx, id, w)
	})
	return out, h.unasked(ctx, err)
}

// Discard implements runner.Adopter.
func (h *host) Discard(ctx context.Context, id string) error {
	_, err := again(ctx, h, func(c *remote.Client) (bool, error) { return true, c.Discard(ctx, id) })
	return h.named(err)
}

// Running reports whether an action still runs there.
func (h *host) Running(ctx context.Context, id string) (bool, error) {
	runs, err := again(ctx, h, func(c *remote.Client) (bool, error) { return c.Running(ctx, id) })
	return runs, h.unasked(ctx, err)
}
