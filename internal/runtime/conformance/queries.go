package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/conformance/recording"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// client returns a new client: a used one has cached answers.
func (e *engine) client(workspace string) *typeclient.Client {
	return typeclient.New(typeclient.Options{Runner: e.recorder, Version: e.o.Version, Verbose: e.o.Verbose, Workspace: workspace,
		Log: e.o.Log})
}

const fixInit = "Print exactly one JSON object with \"state_action\" on stdout, logs on stderr, and end with exit code 0. " +
	"docs/protocol.md, section 3, lists the keys."

func (e *engine) askInit(ctx context.Context) outcome {
	ty, err := e.client(e.o.Workspace).Init(ctx, e.target)
	if err != nil {
		return failWith(e.recorder.StreamHint(fixInit), err)
	}
	e.ty, e.recorder.Forgets = ty, ty.Memory
	e.init = comparableInit(e.recorder.LastStdout(), e.ty.Protocol)
	return pass("")
}

// canonical returns an answer without its memory, in a form that can be compared and shown.
func canonical(raw []byte) string {
	if shown := typeclient.Forgotten(raw); shown != nil {
		raw = shown
	}
	c, err := jsondoc.Canonical(raw)
	if err != nil {
		return string(raw)
	}
	return string(c)
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
	return canonical(raw)
}

const fixInitAgain = "The answer to init may depend on the image, on \"type\" and on \"version\" only: deployster queries it once for " +
	"all resources of a type. Omit what changes, or set \"cache\": false."

func (e *engine) askInitAgain(ctx context.Context) outcome {
	other, workspace := e.target, e.o.Workspace
	if !e.ty.NoCache {
		other.Address, workspace = e.o.Name+"-2", "/elsewhere"
	}
	if _, err := e.client(workspace).Init(ctx, other); err != nil {
		return failWith(fixInitAgain, err)
	}
	if again := comparableInit(e.recorder.LastStdout(), e.ty.Protocol); again != e.init {
		return fail(fixInitAgain, "With a resource %q it answered something else: %s", other.Address, difference(e.init, again))
	}
	if e.ty.NoCache {
		return pass("with the same resource, as it declares \"cache\": false")
	}
	return pass("")
}

const fixKeys = "Read stdin as JSON and ignore the keys that you do not know: new ones may be added at any time, also inside of objects."

func (e *engine) addKeysToInit(ctx context.Context) (out outcome) {
	e.recorder.WithEdit(recording.AddKeys, func() {
		if _, err := e.client(e.o.Workspace).Init(ctx, e.target); err != nil {
			out = failWith(fixKeys, err)
		} else if again := comparableInit(e.recorder.LastStdout(), e.ty.Protocol); again != e.init {
			out = fail(fixKeys, "With an unknown key it answered something else: %s", difference(e.init, again))
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
func (e *engine) ask(ctx context.Context, in protocol.StateInput) (protocol.Answer, error) {
	ty := e.ty
	ty.StateSchema = nil
	in.Memory = e.memory
	a, err := e.client(e.o.Workspace).State(ctx, e.target, ty, in)
	if err == nil && a.Memory != nil && a.Status == protocol.Valid {
		e.memory = a.Memory
	}
	return a, err
}

const fixState = "Print exactly one JSON object on stdout: VALID with \"state\", or STALE with \"actions\"; logs on stderr; exit code " +
	"0. docs/protocol.md, section 4, has the rules."

func (e *engine) askFirst(ctx context.Context) outcome {
	a, err := e.ask(ctx, present(e.o.Config))
	if err != nil {
		return failWith(e.recorder.StreamHint(fixState), err)
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

// difference returns the parts of two texts around their first difference.
func difference(a, b string) string {
	const before, after = 30, 60
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	part := func(s string) string {
		from, to := max(0, i-before), min(len(s), i+after)
		text := strings.ToValidUTF8(s[from:to], "")
		if from > 0 {
			text = "…" + text
		}
		if to < len(s) {
			text += "…"
		}
		return text
	}
	return fmt.Sprintf("%s is now %s", part(a), part(b))
}

const fixAgain = "Give the same answer for the same situation: no times, no random names, no counters, and lists in a fixed order. A " +
	"saved plan is refused when the actions differ from what it showed."

func (e *engine) askStateAgain(ctx context.Context) outcome {
	return e.sameAnswer(ctx, present(e.o.Config), e.first, fixAgain)
}

// sameAnswer checks that the state query returns the same answer as before.
func (e *engine) sameAnswer(ctx context.Context, in protocol.StateInput, want protocol.Answer, fix string) outcome {
	a, err := e.ask(ctx, in)
	if err != nil {
		return failWith(e.recorder.StreamHint(fix), err)
	}
	if was, is := withoutTexts(want), withoutTexts(a); was != is {
		return fail(fix, "The answer differs: %s", difference(was, is))
	}
	return pass("")
}

func (e *engine) addKeysToState(ctx context.Context) (out outcome) {
	if e.ty.Protocol == 1 {
		return skip("images of protocol 1 may check their input strictly")
	}
	e.recorder.WithEdit(recording.AddKeys, func() { out = e.sameAnswer(ctx, present(e.o.Config), e.first, fixKeys) })
	return out
}

const fixTerm = "On SIGTERM end within the grace period of 10 seconds: do not ignore it, and do not wait indefinitely."

func (e *engine) terminateInit(ctx context.Context) outcome {
	return e.terminate(func() { _, _ = e.client(e.o.Workspace).Init(ctx, e.target) })
}

func (e *engine) terminateState(ctx context.Context) outcome {
	return e.terminate(func() { _, _ = e.ask(ctx, present(e.o.Config)) })
}

// terminate checks that a program ends on SIGTERM, at several moments. Its answer does
// not matter then.
func (e *engine) terminate(ask func()) outcome {
	moments := []time.Duration{2 * time.Millisecond, 20 * time.Millisecond}
	if runs := e.recorder.All(); len(runs) > 0 {
		if usual := runs[len(runs)-1].Result.Duration / 2; usual > moments[len(moments)-1] {
			moments = append(moments, usual)
		}
	}
	asked := 0
	for _, after := range moments {
		e.recorder.WithEdit(func(s *runner.Spec) { s.Timeout = after }, ask)
		runs := e.recorder.Current()
		if len(runs) == 0 {
			continue
		}
		t, ok := asTimeout(runs[len(runs)-1].Err)
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
