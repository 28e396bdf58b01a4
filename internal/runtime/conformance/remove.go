package conformance

import (
	"context"
	"encoding/json"

	"deployster/internal/runtime/conformance/recording"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

const fixAbsent = "With \"intent\":\"absent\" answer STALE with the actions that remove the object while it exists, and " +
	"{\"status\":\"MISSING\"} when it is gone."

const fixUnreached = "Answer MISSING only where you have seen that the object does not exist. Where its machine or service cannot be " +
	"reached, end with an exit code other than 0 and the reason on stderr: otherwise a destroy would forget what still exists."

// askUnreached queries the absence of the resource, which exists, in a container without a
// network.
func (e *engine) askUnreached(ctx context.Context) outcome {
	target := e.image.target
	if target.Settings.WholeMachine {
		return skip("it works on its machine, and not by a network")
	}
	if target.Settings.Network == runner.NoNetwork {
		return skip("its containers never have a network")
	}
	target.Settings.Network = runner.NoNetwork
	in := protocol.StateInput{Config: e.o.lastConfig(), Intent: protocol.Absent, LastState: e.valid.State, Memory: e.image.memory}
	ty := e.image.ty
	ty.StateSchema = nil
	a, err := e.image.client(e.o.Workspace).State(ctx, target, ty, in)
	switch {
	case err != nil && !isOfImage(err):
		return outcome{err: err}
	case err != nil:
		return pass("it ends with an error")
	case a.Status == protocol.Missing:
		return fail(fixUnreached, "It exists, and without a network the image answers MISSING.")
	}
	return pass("%s", describe(a))
}

// remove destroys the resource.
func (e *engine) remove(ctx context.Context, config, last json.RawMessage) outcome {
	in := protocol.StateInput{Config: config, Intent: protocol.Absent, LastState: last}
	a, err := e.image.ask(ctx, in)
	switch {
	case err != nil:
		return failWith(e.image.recorder.StreamHint(fixAbsent), err)
	case a.Status == protocol.Missing && e.valid.Status == protocol.Valid:
		return fail(fixAbsent, "It reports MISSING, and was VALID a moment ago: nothing would remove it.")
	case a.Status == protocol.Missing:
		e.image.made = false
		return pass("nothing of it existed")
	}
	if err := e.image.act(ctx, a, in); err != nil {
		return failWith(fixActions, err)
	}
	before := a
	if a, err = e.image.ask(ctx, after(before, in)); err != nil {
		return failWith(e.image.recorder.StreamHint(fixAbsent), err)
	}
	if a.Status != protocol.Missing {
		return fail(fixAbsent, "Expected MISSING after the actions, got %s.", describe(a))
	}
	e.image.made, e.valid.Status = false, protocol.Missing
	return pass("%s", describe(before))
}

func (e *engine) askAbsentAgain(ctx context.Context) outcome {
	for _, last := range []json.RawMessage{nil, e.valid.State} {
		a, err := e.image.ask(ctx, protocol.StateInput{Config: e.o.lastConfig(), Intent: protocol.Absent, LastState: last})
		if err != nil {
			return failWith(e.image.recorder.StreamHint(fixAbsent), err)
		}
		if a.Status != protocol.Missing {
			return fail(fixAbsent, "Expected MISSING again, got %s.", describe(a))
		}
	}
	return pass("")
}

func (e *engine) askGone(ctx context.Context) outcome {
	for _, last := range []json.RawMessage{nil, e.valid.State} {
		in := present(e.o.lastConfig())
		in.LastState = last
		a, err := e.image.ask(ctx, in)
		if err != nil {
			return failWith(e.image.recorder.StreamHint(fixState), err)
		}
		if a.Status != protocol.Missing {
			remembered := ""
			if last != nil {
				remembered = " when it was given the last state"
			}
			return fail(fixLastState, "It was removed, and the image returned %s%s. A missing object is STALE without \"staleState\".",
				describe(a), remembered)
		}
	}
	return pass("")
}

// recreate creates the resource again, with unknown keys in the stdin of the actions.
func (e *engine) recreate(ctx context.Context) (out outcome) {
	e.image.recorder.WithEdit(recording.AddKeys, func() {
		in := present(e.o.lastConfig())
		a, err := e.image.ask(ctx, in)
		if err == nil && a.Status == protocol.Valid {
			out = fail(fixLastState, "It was removed, and is VALID.")
			return
		}
		if err == nil {
			err = e.image.act(ctx, a, in)
		}
		if err != nil {
			out = failWith(fixKeys+" "+fixActions, err)
			return
		}
		if a, err = e.image.ask(ctx, after(a, in)); err != nil {
			out = failWith(e.image.recorder.StreamHint(fixState), err)
			return
		}
		out = pass("")
		if a.Status != protocol.Valid {
			out = fail(fixKeys+" "+fixValid, "The first time it became VALID; after it was removed, and with an unknown key in stdin, it "+
				"is %s.%s",
				describe(a), reasons(a))
		}
	})
	return out
}
