package remote

import (
	"context"
	"errors"

	"deployster/internal/runtime/runner"
)

// GuardStep is what a client requests of the host about a group of guarded actions.
type GuardStep string

// The steps. Those after GuardProtect are for any client: who may connect may do more.
const (
	GuardArm     GuardStep = "arm"
	GuardProtect GuardStep = "protect"
	GuardConfirm GuardStep = "confirm"
	GuardRevert  GuardStep = "revert"
	GuardRead    GuardStep = "read"
	GuardForget  GuardStep = "forget"
)

// GuardRequest is a request about a group of guarded actions.
type GuardRequest struct {
	Step       GuardStep          `json:"step"`
	Group      runner.Group       `json:"group,omitzero"` // only its key for the steps after GuardArm
	Protection *runner.Protection `json:"protection,omitempty"`
}

// Guarding is a Place that guards actions.
type Guarding interface {
	// Guard carries out a step for a client that Enter has admitted.
	Guard(ctx context.Context, h Hello, r GuardRequest) (runner.Settlement, error)
}

// guard carries out a step.
func (s *server) guard(ctx context.Context, r GuardRequest) answer {
	place, guards := s.at.(Guarding)
	if !guards {
		return answer{Error: encodeError(errors.New("this machine does not guard actions"))}
	}
	if r.Step == GuardArm || r.Step == GuardProtect {
		if err := s.at.Acts(ctx, *s.hello.Load()); err != nil {
			return answer{Error: encodeError(err)}
		}
	}
	settlement, err := place.Guard(ctx, *s.hello.Load(), r)
	return answer{Settlement: &settlement, Error: encodeError(err)}
}

// Guard carries out a step on the host.
func (c *Client) Guard(ctx context.Context, r GuardRequest) (runner.Settlement, error) {
	a, err := c.ask(ctx, kindGuard, r, watchers{})
	if err != nil || a.Settlement == nil {
		return runner.Settlement{}, err
	}
	return *a.Settlement, nil
}
