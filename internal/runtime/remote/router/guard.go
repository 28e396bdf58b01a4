package router

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// Arm implements runner.Guardian.
func (p *Places) Arm(ctx context.Context, at runner.Host, g runner.Group) error {
	return p.guard(ctx, at, remote.GuardRequest{Step: remote.GuardArm, Group: g})
}

// Save implements runner.Guardian.
func (p *Places) Save(ctx context.Context, at runner.Host, pr runner.Protection) error {
	h := p.host(at)
	if err := p.o.mayRun(pr.Undo); err != nil {
		return err
	}
	client, err := h.connect(ctx)
	if err != nil {
		return h.explain(err)
	}
	err = h.send(ctx, client, pr.Save)
	h.rest()
	if err != nil {
		return h.explain(err)
	}
	pr.Save.Settings.Host, pr.Undo.Settings.Host = nil, nil // the host runs them locally
	return p.guard(ctx, at, remote.GuardRequest{Step: remote.GuardProtect, Group: runner.Group{Key: pr.Key}, Protection: &pr})
}

// guard carries out a step before the actions, once: after a lost connection nothing is begun.
func (p *Places) guard(ctx context.Context, at runner.Host, r remote.GuardRequest) error {
	h := p.host(at)
	if err := h.expect(ctx, at.Machine); err != nil {
		return err
	}
	client, err := h.connect(ctx)
	if err != nil {
		return h.explain(err)
	}
	defer h.rest()
	_, err = client.Guard(ctx, r)
	if isLost(err) {
		return h.explain(err)
	}
	return h.named(err)
}

// The pauses while a host is dialled again or an undo is waited for, and how long an undo that
// fails is waited for.
const (
	freshPause  = time.Second
	undoPause   = 200 * time.Millisecond
	undoFailing = 30 * time.Second
)

// Settle implements runner.Guardian. Every step goes over a connection of its own, and after a lost
// answer the verdict is read again: what was decided is known to the host alone.
func (p *Places) Settle(ctx context.Context, at runner.Host, g runner.Group, keep bool) (runner.Settlement, error) {
	h := p.host(at)
	step := remote.GuardRevert
	if keep {
		step = remote.GuardConfirm
	}
	limit := time.Now().Add(g.After + h.o.Patience)
	for {
		s, err := h.settle(ctx, at, remote.GuardRequest{Step: step, Group: runner.Group{Key: g.Key}})
		if err == nil {
			h.again()
			return s, nil
		}
		if ctx.Err() != nil || diag.Is[*OtherMachineError](err) || time.Now().After(limit) {
			return runner.Settlement{}, h.explain(err)
		}
		select {
		case <-ctx.Done():
			return runner.Settlement{}, context.Cause(ctx)
		case <-time.After(freshPause):
		}
	}
}

// settle decides a group over a new connection, and waits for the end of its undo.
func (h *host) settle(ctx context.Context, at runner.Host, r remote.GuardRequest) (runner.Settlement, error) {
	if h.o.Fresh == nil {
		return runner.Settlement{}, errors.New("this program makes no new connections to hosts")
	}
	client, err := h.o.Fresh(ctx, h.Host)
	if err != nil {
		return runner.Settlement{}, err
	}
	defer func() { _ = client.Close() }() // the host sees an orderly end
	if answers := client.Welcome().Facts.Machine; at.Machine != "" && answers != at.Machine {
		return runner.Settlement{}, &OtherMachineError{h.Name}
	}
	s, err := client.Guard(ctx, r)
	for limit := time.Now().Add(undoFailing); err == nil && !s.Settled() && s.Verdict != runner.Nothing; {
		if s.Failure == "" {
			limit = time.Now().Add(undoFailing)
		} else if time.Now().After(limit) {
			break // it is repeated there
		}
		select {
		case <-ctx.Done():
			return s, context.Cause(ctx)
		case <-time.After(undoPause):
		}
		s, err = client.Guard(ctx, remote.GuardRequest{Step: remote.GuardRead, Group: r.Group})
	}
	if err == nil && s.Verdict == runner.Nothing {
		err = fmt.Errorf("the host does not know the group %s of guarded actions", r.Group.Key)
	}
	return s, err
}

// again lets the host be dialled again: it was reached.
func (h *host) again() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = nil
}

// Dismiss implements runner.Guardian.
func (p *Places) Dismiss(ctx context.Context, at runner.Host, key string) error {
	return p.guard(ctx, at, remote.GuardRequest{Step: remote.GuardForget, Group: runner.Group{Key: key}})
}
