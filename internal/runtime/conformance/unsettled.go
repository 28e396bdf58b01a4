package conformance

import (
	"context"
	"errors"

	"deployster/internal/base/words"
	"deployster/protocol"
)

const fixUnsettled = "Where \"unsettled\" names the action that creates it and there is no memory, it may exist: find it by other " +
	"means, or answer with an error of the class \"unsettled\". docs/protocol.md, section 4.5."

// createsOnce queries an object that was just created as if its actions had been killed at
// their end, so that their answers are unknown. The test does not really kill actions:
// that could leave objects that it could not remove.
func createsOnce(ctx context.Context, e *engine) outcome {
	kept := e.image.memory
	if kept == nil {
		return skip("its actions returned no memory")
	}
	defer func() { e.image.memory = kept }()
	found := false
	for _, intent := range []protocol.Intent{protocol.Present, protocol.Absent} {
		e.image.memory = nil
		a, err := e.image.ask(ctx, protocol.StateInput{Config: e.o.lastConfig(), Intent: intent, Unsettled: e.image.acted})
		var known *protocol.TypeError
		switch {
		case errors.As(err, &known) && known.Class == protocol.UnsettledError:
		case err != nil:
			return failWith(fixUnsettled, err)
		case a.Status == protocol.Missing:
			return fail(fixUnsettled, "It exists, and the output of %s was lost: with the intent %s the image reports its absence.",
				words.List(e.image.acted, 3), intent)
		default:
			found = true
		}
	}
	if found {
		return pass("the image finds it")
	}
	return pass("the image reports that it is not known")
}
