package conformance

import (
	"context"

	"deployster/protocol"
)

const fixRefresh = "With \"refresh\": true in its input, state returns VALID, or STALE with the actions that reload. After these it is " +
	"queried without it, and must return VALID."

// acceptsRefresh notifies a type that a resource it subscribes to was acted on, and runs the
// actions of its answer.
func acceptsRefresh(ctx context.Context, e *engine) outcome {
	if !e.image.ty.Refresh {
		return skip("the image does not declare \"refresh\": true")
	}
	in := present(e.o.Config)
	in.LastState, in.Refresh = e.valid.State, true
	a, err := e.image.ask(ctx, in)
	switch {
	case err != nil:
		return failWith(e.image.recorder.StreamHint(fixState), err)
	case a.Status == protocol.Missing:
		return fail(fixRefresh, "It reports that nothing exists, though it was VALID before.")
	case a.Status == protocol.Valid:
		return pass("there is nothing to reload")
	}
	if err := e.image.act(ctx, a, in); err != nil {
		return failWith(fixActions, err)
	}
	plain := present(e.o.Config)
	plain.LastState = e.valid.State
	then, err := e.image.ask(ctx, after(a, plain))
	if err != nil {
		return failWith(e.image.recorder.StreamHint(fixState), err)
	}
	if then.Status != protocol.Valid {
		return fail(fixRefresh, "Expected VALID after it, got %s.%s", describe(then), reasons(then))
	}
	e.valid = then
	return pass("%s", describe(a))
}
