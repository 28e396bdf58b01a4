package apply

import (
	"context"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/protocol"
)

// returns is the most bytes that an action may return to be recorded.
func returns(step *plan.Step, in protocol.StateInput) (most int64) {
	if step.Init.Memory {
		most += typeclient.MaxMemory
	}
	if step.Publishes {
		most += artifact.MaxPutAnswer + int64(len(in.Config))
	}
	return most
}

// awaitRoom waits until the disk has room for the outcome of an action. left are the actions that are not started otherwise.
func awaitRoom(ctx context.Context, r *run, step *plan.Step, out *outcome, in protocol.StateInput, a protocol.Action,
	left []protocol.Action) bool {
	err := r.journal.AwaitSpace(ctx, out.addr, a.Name, returns(step, in))
	switch {
	case err == nil:
		return true
	case !out.interrupted(ctx, a, left):
		out.failJournal(err)
	}
	return false
}
