package conformance

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/conformance/recording"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

const fixOperations = "Read one JSON object from stdin, with the \"config\", the \"state\" and the \"input\", ignore keys that are not " +
	"known, and end with exit code 0. One that changes the object must not declare \"changes\": false. docs/protocol.md, section 12."

// known returns an error for the input of an operation that the type does not have.
func known(ty protocol.Type, inputs map[string]json.RawMessage) error {
	all := slices.Sorted(maps.Keys(ty.Operations))
	for name := range inputs {
		if !slices.Contains(all, name) {
			return diag.Errorf("No such operation", "The image has no operation %q: %s.%s Nothing was changed.", diag.Visible(name),
				words.ThereAre(all), words.DidYouMean(name, all))
		}
	}
	return nil
}

// runsOperations runs the operations of the type that were named, each with its input. The state can be queried after each,
// and is as before after one that declares that it changes nothing.
func runsOperations(ctx context.Context, e *engine) outcome {
	i, config := e.image, e.o.lastConfig()
	var ran, left []string
	for _, name := range slices.Sorted(maps.Keys(i.ty.Operations)) {
		input, named := e.o.Inputs[name]
		if !named {
			left = append(left, name)
			continue
		}
		of := protocol.Type{ConfigSchema: i.ty.Operations[name].ConfigSchema}
		if wrong := i.client("").CheckConfig(of, input, nil); len(wrong) > 0 {
			return fail("Give it an input that fits its schema (-operation NAME=FILE), or correct the schema.", "The input of %s: %s", name,
				wrong[0].Sentence())
		}
		if out := e.runsOperation(ctx, name, input, config); out != nil {
			return *out
		}
		ran = append(ran, name)
	}
	out := pass("ran %s", words.List(ran, 5))
	if len(ran) == 0 {
		out = skip("")
	}
	if len(left) > 0 {
		out.reason = strings.TrimPrefix(out.reason+"; not named: "+words.List(left, 5), "; ")
		out.fix = "Name them to run them: -operation NAME, or NAME=FILE with an input."
	}
	return out
}

// runsOperation runs one operation, with a key in its input that no image knows; nil = nothing is wrong.
func (e *engine) runsOperation(ctx context.Context, name string, input, config json.RawMessage) *outcome {
	i, operation := e.image, e.image.ty.Operations[name]
	wrong := func(o outcome) *outcome { return &o }
	op := typeclient.Operation{Name: name, Input: protocol.OperationInput{Config: config, State: e.valid.State, Memory: i.memory,
		Input: input}, Sensitive: i.schemas.WriteOnly(operation.ConfigSchema, input)}
	if operation.Changing() {
		op.Input.IdempotencyKey = rand.Text()
	}
	var err error
	i.recorder.WithEdit(recording.AddKeys, func() { _, err = op.Run(ctx, i.client(i.o.Workspace), i.target, i.ty) })
	if err != nil {
		return wrong(failWith(fixOperations, err))
	}
	in := present(config)
	in.LastState = e.valid.State
	a, err := i.ask(ctx, in)
	switch {
	case err != nil:
		return wrong(failWith(fixOperations, err))
	case !operation.Changing() && withoutTexts(a) != withoutTexts(e.valid):
		return wrong(fail(fixOperations, "%s declares that it changes nothing, and after it the answer differs: %s", name,
			recording.Difference(withoutTexts(e.valid), withoutTexts(a))))
	case a.Status == protocol.Missing:
		return wrong(fail(fixOperations, "After %s the object does not exist any more. What removes it is an action of a plan.", name))
	case a.Status == protocol.Valid:
		e.valid = a
	default: // as in an apply, its actions make it match the config again
		if err := i.act(ctx, a, in); err != nil {
			return wrong(failWith(fixActions, err))
		}
		if a, err = i.ask(ctx, after(a, in)); err != nil || a.Status != protocol.Valid {
			return wrong(fail(fixValid, "After %s and the actions that followed: %s", name, cannot(a, err)))
		}
		e.valid = a
	}
	return nil
}

// cannot describes an answer that is not VALID.
func cannot(a protocol.Answer, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("expected VALID, got %s.%s", describe(a), reasons(a))
}
