package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/conformance/recording"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// client returns a new client: a used one has cached answers.
func (i *image) client(workspace string) *typeclient.Client {
	return typeclient.New(typeclient.Options{Runner: i.recorder, Version: i.o.Version, Verbose: i.o.Verbose, Workspace: workspace,
		Log: i.o.Log})
}

const fixInit = "Print exactly one JSON object with \"state_action\" on stdout, logs on stderr, and end with exit code 0. " +
	"docs/protocol.md, section 3, lists the keys."

func (i *image) askInit(ctx context.Context) outcome {
	ty, err := i.client(i.o.Workspace).Describe(ctx, i.target)
	if err != nil {
		return failWith(i.recorder.StreamHint(fixInit), err)
	}
	i.ty, i.recorder.Forgets = ty, ty.Memory
	i.init = comparableInit(i.recorder.LastStdout(), i.ty.Protocol)
	return pass("")
}

// comparableInit returns an answer to init without the keys that deployster ignores: in
// protocol 1 the state action has a name and a description, in which some types put the
// resource's name.
func comparableInit(raw []byte, protocol int) string {
	var answer, action map[string]json.RawMessage
	if protocol == 1 && json.Unmarshal(raw, &answer) == nil && json.Unmarshal(answer["state_action"], &action) == nil {
		delete(action, "name")
		delete(action, "description")
		if rest, err := json.Marshal(action); err == nil {
			answer["state_action"] = rest
		}
		if rest, err := json.Marshal(answer); err == nil {
			raw = rest
		}
	}
	return recording.Canonical(raw)
}

const fixInitAgain = "The answer to init may depend on the image, on \"type\" and on \"version\" only: deployster queries it once for " +
	"all resources of a type. Omit what changes, or set \"cache\": false."

func (i *image) askInitAgain(ctx context.Context) outcome {
	other, workspace := i.target, i.o.Workspace
	if !i.ty.NoCache {
		other.Address, workspace = i.o.Name+"-2", "/elsewhere"
	}
	if _, err := i.client(workspace).Describe(ctx, other); err != nil {
		return failWith(fixInitAgain, err)
	}
	if again := comparableInit(i.recorder.LastStdout(), i.ty.Protocol); again != i.init {
		return fail(fixInitAgain, "With a resource %q it answered something else: %s", other.Address, recording.Difference(i.init, again))
	}
	if i.ty.NoCache {
		return pass("with the same resource, as it declares \"cache\": false")
	}
	return pass("")
}

const fixKeys = "Read stdin as JSON and ignore the keys that you do not know: new ones may be added at any time, also inside of objects."

func (i *image) addKeysToInit(ctx context.Context) (out outcome) {
	i.recorder.WithEdit(recording.AddKeys, func() {
		if _, err := i.client(i.o.Workspace).Describe(ctx, i.target); err != nil {
			out = failWith(fixKeys, err)
		} else if again := comparableInit(i.recorder.LastStdout(), i.ty.Protocol); again != i.init {
			out = fail(fixKeys, "With an unknown key it answered something else: %s", recording.Difference(i.init, again))
		} else {
			out = pass("")
		}
	})
	return out
}

// present returns the input of the state step for a resource that is to exist.
func present(config json.RawMessage) protocol.StateInput {
	return protocol.StateInput{Config: config, Intent: protocol.Present}
}

// ask queries the state. It does not check the state against its schema: another check does.
func (i *image) ask(ctx context.Context, in protocol.StateInput) (protocol.Answer, error) {
	ty := i.ty
	ty.StateSchema = nil
	in.Memory = i.memory
	a, err := i.client(i.o.Workspace).State(ctx, i.target, ty, in)
	if err == nil && a.Memory != nil && a.Status == protocol.Valid {
		i.memory = a.Memory
	}
	return a, err
}

const fixState = "Print exactly one JSON object on stdout: VALID with \"state\", or STALE with \"actions\"; logs on stderr; exit code " +
	"0. docs/protocol.md, section 4, has the rules."

func (e *engine) askFirst(ctx context.Context) outcome {
	a, err := e.image.ask(ctx, present(e.o.Config))
	if err != nil {
		return failWith(e.image.recorder.StreamHint(fixState), err)
	}
	e.first = a
	return pass("%s", describe(a))
}

// describe returns an answer as text.
func describe(a protocol.Answer) string {
	var names []string
	for _, action := range a.Actions {
		names = append(names, action.Name)
	}
	text := string(a.Status)
	if a.Status == protocol.Missing {
		text = "it does not exist"
	}
	if len(names) > 0 {
		text += "; actions: " + strings.Join(names, ", ")
	}
	return text
}

// withoutTexts returns the part of an answer that must be equal in two answers for the
// same situation: the texts for people may differ.
func withoutTexts(a protocol.Answer) string {
	a.Reasons, a.Memory = nil, nil
	actions := make([]protocol.Action, len(a.Actions))
	for i, action := range a.Actions {
		action.Description = ""
		actions[i] = action
	}
	a.Actions = actions
	if a.ShutdownFirst != nil {
		first := *a.ShutdownFirst
		first.Description = ""
		a.ShutdownFirst = &first
	}
	b, err := jsondoc.Encode(a)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

const fixAgain = "Give the same answer for the same situation: no times, no random names, no counters, and lists in a fixed order. A " +
	"saved plan is refused when the actions differ from what it showed."

func (e *engine) askStateAgain(ctx context.Context) outcome {
	return e.image.sameAnswer(ctx, present(e.o.Config), e.first, fixAgain)
}

// sameAnswer checks that the state query returns the same answer as before.
func (i *image) sameAnswer(ctx context.Context, in protocol.StateInput, want protocol.Answer, fix string) outcome {
	a, err := i.ask(ctx, in)
	if err != nil {
		return failWith(i.recorder.StreamHint(fix), err)
	}
	if was, is := withoutTexts(want), withoutTexts(a); was != is {
		return fail(fix, "The answer differs: %s", recording.Difference(was, is))
	}
	return pass("")
}

func (e *engine) addKeysToState(ctx context.Context) (out outcome) {
	if e.image.ty.Protocol == 1 {
		return skip("images of protocol 1 may check their input strictly")
	}
	e.image.recorder.WithEdit(recording.AddKeys, func() { out = e.image.sameAnswer(ctx, present(e.o.Config), e.first, fixKeys) })
	return out
}

const fixTerm = "On SIGTERM end within the grace period of 10 seconds: do not ignore it, and do not wait indefinitely."

func (i *image) terminateInit(ctx context.Context) outcome {
	return i.terminate(func() { _, _ = i.client(i.o.Workspace).Describe(ctx, i.target) })
}

func (i *image) terminateState(ctx context.Context) outcome {
	return i.terminate(func() { _, _ = i.ask(ctx, present(i.o.Config)) })
}

// terminate checks that a program ends on SIGTERM, at several moments. Its answer does
// not matter then.
func (i *image) terminate(ask func()) outcome {
	moments := []time.Duration{2 * time.Millisecond, 20 * time.Millisecond}
	if runs := i.recorder.All(); len(runs) > 0 {
		if usual := runs[len(runs)-1].Result.Duration / 2; usual > moments[len(moments)-1] {
			moments = append(moments, usual)
		}
	}
	asked := 0
	for _, after := range moments {
		i.recorder.WithEdit(func(s *runner.Spec) { s.Timeout = after }, ask)
		runs := i.recorder.Current()
		if len(runs) == 0 {
			continue
		}
		t, ok := errors.AsType[*runner.TimeoutError](runs[len(runs)-1].Err)
		switch {
		case ok && t.Killed:
			return fail(fixTerm, "%s after its start it received SIGTERM, and had to be killed %s later.", after, runner.DefaultGrace)
		case ok:
			asked++
		}
	}
	if asked == 0 {
		return pass("it always ended before SIGTERM could be sent")
	}
	return pass("")
}
