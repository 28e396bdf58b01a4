package conformance

import (
	"context"
	"maps"
	"slices"

	"deployster/internal/base/jsondoc"
	"deployster/plan/observe"
	"deployster/protocol"
)

const fixUnknowns = "Where \"unknown\" in its input has a pointer, the value there is null for now, whatever the schema requires: " +
	"answer what is expected, and list unknown values in the \"unknown\" of the answer. A type that cannot do this omits \"unknowns\" " +
	"in its answer to init."

// answersUnknowns queries the state with each value of the config unknown in turn.
func answersUnknowns(ctx context.Context, e *engine) outcome {
	config, err := jsondoc.Object(e.o.Config)
	if err != nil {
		return fail(fixUnknowns, "The config is not an object: %s.", err)
	}
	asked := 0
	for _, key := range slices.Sorted(maps.Keys(config)) {
		pointer := jsondoc.JoinPointer([]string{key})
		unknown := map[string]string{pointer: key}
		if !observe.AcceptsUnknown(&e.image.ty, unknown) {
			continue
		}
		asked++
		in := present(e.o.Config)
		in.LastState = e.valid.State
		observe.SetUnknown(&in, unknown)
		a, err := e.image.ask(ctx, in)
		if err != nil {
			return failWith(fixUnknowns, err)
		}
		if a.Status == protocol.Missing {
			return fail(fixUnknowns, "With %s unknown it reports that nothing exists, though it was VALID before.", pointer)
		}
	}
	if asked == 0 {
		return skip("its config has no value outside of its identity")
	}
	return pass("with %d values unknown, one at a time", asked)
}
