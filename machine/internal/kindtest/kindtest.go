package kindtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"deployster/protocol"
)

// Config is the config of a resource.
type Config map[string]any

// Resource is one resource of a kind, with what deployster would have recorded of it.
type Resource struct {
	T    testing.TB
	Kind protocol.Kind
	Last json.RawMessage // the recorded state; nil = none
	Log  bytes.Buffer    // stderr of all calls, and stdout of actions
}

// typeName is the name by which the kind under test is called.
const typeName = "deployster/machine#tested"

// New returns a resource that does not exist yet.
func New(t testing.TB, k protocol.Kind) *Resource { return &Resource{T: t, Kind: k} }

// call runs one step, and returns its stdout and its exit code.
func (r *Resource) call(in protocol.ActionInput, args ...string) ([]byte, int) {
	r.T.Helper()
	in.InitInput = protocol.InitInput{Name: "tested", Type: typeName, Version: "1.0.0", Workspace: "/",
		Protocol: protocol.Versions{Min: 1, Max: 2}}
	stdin, err := json.Marshal(in)
	if err != nil {
		r.T.Fatal(err)
	}
	var out bytes.Buffer
	code := protocol.AnswerKind(context.Background(), map[string]protocol.Kind{"tested": r.Kind},
		protocol.Process{Args: args, Stdin: bytes.NewReader(stdin), Stdout: &out, Stderr: &r.Log})
	return out.Bytes(), code
}

func (r *Resource) input(c Config, intent protocol.Intent) protocol.ActionInput {
	r.T.Helper()
	raw, err := json.Marshal(c)
	if err != nil {
		r.T.Fatal(err)
	}
	return protocol.ActionInput{StateInput: protocol.StateInput{Config: raw, Intent: intent, LastState: r.Last}}
}

// ask asks for the state.
func (r *Resource) ask(in protocol.ActionInput) protocol.StateAnswer {
	r.T.Helper()
	out, code := r.call(in, "state")
	if code != 0 {
		r.T.Fatalf("state of %s ended with %d:\n%s", in.Config, code, r.Log.String())
	}
	var a protocol.StateAnswer
	if err := json.Unmarshal(out, &a); err != nil {
		r.T.Fatalf("%s: %v", out, err)
	}
	return a
}

// State asks for the state, and changes nothing.
func (r *Resource) State(c Config) protocol.StateAnswer {
	r.T.Helper()
	return r.ask(r.input(c, protocol.Present))
}

// StateAbsent asks what removes the thing, and changes nothing.
func (r *Resource) StateAbsent(c Config) protocol.StateAnswer {
	r.T.Helper()
	return r.ask(r.input(c, protocol.Absent))
}

// StateUnknown asks for the state while the values at these pointers are not known yet.
func (r *Resource) StateUnknown(c Config, pointers ...string) protocol.StateAnswer {
	r.T.Helper()
	in := r.input(c, protocol.Present)
	in.Unknown = pointers
	return r.ask(in)
}

// Apply makes the thing match a config, and returns the answer that named the actions. It
// wants the state to be VALID afterwards, to hold what was forecast, and to stay so.
func (r *Resource) Apply(c Config) protocol.StateAnswer {
	r.T.Helper()
	return r.apply(c, false)
}

// Refresh applies a config after something that the resource subscribes to was changed.
func (r *Resource) Refresh(c Config) protocol.StateAnswer {
	r.T.Helper()
	return r.apply(c, true)
}

func (r *Resource) apply(c Config, refresh bool) protocol.StateAnswer {
	r.T.Helper()
	first, problem := r.try(c, protocol.Present, refresh)
	if problem != "" {
		r.T.Fatalf("%v: %s", c, problem)
	}
	return first
}

// Fails wants that the state or an action fails with an error that holds all texts.
func (r *Resource) Fails(c Config, texts ...string) {
	r.T.Helper()
	_, problem := r.try(c, protocol.Present, false)
	r.wantTexts(c, problem, texts)
}

// DestroyFails wants that the removal fails with an error that holds all texts.
func (r *Resource) DestroyFails(c Config, texts ...string) {
	r.T.Helper()
	_, problem := r.try(c, protocol.Absent, false)
	r.wantTexts(c, problem, texts)
}

func (r *Resource) wantTexts(c Config, problem string, texts []string) {
	r.T.Helper()
	if problem == "" {
		r.T.Errorf("%v: it did not fail", c)
	}
	for _, text := range texts {
		if !strings.Contains(problem, text) {
			r.T.Errorf("%v: failed with %q, which does not hold %q", c, problem, text)
		}
	}
}

// Destroy removes the thing, and returns the answer that named the actions.
func (r *Resource) Destroy(c Config) protocol.StateAnswer {
	r.T.Helper()
	first, problem := r.try(c, protocol.Absent, false)
	if problem != "" {
		r.T.Fatalf("%v: %s", c, problem)
	}
	r.Last = nil
	return first
}

// try queries, acts and queries again; problem is what went wrong.
func (r *Resource) try(c Config, intent protocol.Intent, refresh bool) (first protocol.StateAnswer, problem string) {
	r.T.Helper()
	in := r.input(c, intent)
	in.Refresh = refresh
	first = r.ask(in)
	if first.Error != nil {
		return first, first.Error.Error() + " at " + first.Error.Path
	}
	in.StaleState = first.StaleState
	if in.StaleState == nil {
		in.StaleState = json.RawMessage("{}")
	}
	done := []string{}
	for _, action := range first.Actions {
		in.Action, in.IdempotencyKey, in.ShownEffects = action.Name, "key", action.Effects
		before := r.Log.Len()
		printed, code := r.call(in, action.Args...)
		r.Log.Write(printed)
		if code != 0 {
			return first, "the action " + action.Name + " failed: " + r.Log.String()[before:]
		}
		done = append(done, action.Name)
	}
	in.Action, in.StaleState, in.ShownEffects, in.After, in.Refresh = "", nil, nil, done, false
	again := r.ask(in)
	want := protocol.Valid
	if intent == protocol.Absent {
		want = protocol.Missing
	}
	if again.Status != want {
		text, _ := json.Marshal(again)
		return first, "after its actions it is " + string(text)
	}
	if intent == protocol.Present {
		r.Last = again.State
		problem = promises(first, again.State)
	}
	return first, problem
}

// promises returns how a state breaks what the answer before the actions said of it.
func promises(first protocol.StateAnswer, after json.RawMessage) string {
	var had, forecast, now map[string]any
	for _, one := range []struct {
		raw  json.RawMessage
		into *map[string]any
	}{{first.StaleState, &had}, {first.Forecast, &forecast}, {after, &now}} {
		if len(one.raw) > 0 {
			if err := json.Unmarshal(one.raw, one.into); err != nil {
				return err.Error()
			}
		}
	}
	if first.MayDiffer || first.Status != protocol.Stale {
		return ""
	}
	for name, value := range forecast {
		if !reflect.DeepEqual(now[name], value) {
			return "the forecast of " + name + " was wrong: " + string(first.Forecast) + ", and it is " + string(after)
		}
	}
	for name, value := range had {
		if _, known := forecast[name]; !known && !reflect.DeepEqual(now[name], value) && !slices.Contains(first.Unknown, "/"+name) {
			return name + " has changed, which was neither forecast nor unknown: " + string(first.StaleState) + ", and it is " +
				string(after)
		}
	}
	return ""
}

// Discover returns the configs that discovery lists with these defaults.
func (r *Resource) Discover(defaults Config) (found []Config) {
	r.T.Helper()
	out, code := r.call(r.input(defaults, ""), "discover")
	if code != 0 {
		r.T.Fatalf("discover ended with %d:\n%s", code, r.Log.String())
	}
	for line := range strings.Lines(string(out)) {
		var one struct{ Config Config }
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			r.T.Fatal(err)
		}
		found = append(found, one.Config)
	}
	return found
}

// Watch begins to watch, and returns its events after the first one has come. The watch ends
// with the test.
func (r *Resource) Watch(c Config) <-chan string {
	r.T.Helper()
	in := r.input(c, protocol.Present)
	in.InitInput.Type = typeName
	line, err := json.Marshal(in)
	if err != nil {
		r.T.Fatal(err)
	}
	stdin, feed := io.Pipe()
	events := make(lines, 1000)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		protocol.AnswerKind(context.Background(), map[string]protocol.Kind{"tested": r.Kind},
			protocol.Process{Args: []string{"watch"}, Stdin: stdin, Stdout: events, Stderr: events})
	}()
	if _, err := feed.Write(append(line, '\n')); err != nil {
		r.T.Fatal(err)
	}
	r.T.Cleanup(func() {
		_ = feed.Close()
		<-ended
	})
	if first := <-events; !strings.HasPrefix(first, "{") {
		r.T.Fatalf("the watch began with %s", first)
	}
	return events
}

// lines are what a watch prints.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	select {
	case l <- string(p):
	default: // nobody reads them any more
	}
	return len(p), nil
}
