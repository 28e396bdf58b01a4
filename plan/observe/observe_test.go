package observe_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/plan/observe"
	"deployster/protocol"
	"deployster/state"
)

// A query of an object with an entry has what the entry holds. What has changed since the object was
// last VALID is in it only where the scope can report actions, and the type asks for it.
func TestRequest_HoldsWhatIsRecorded(t *testing.T) {
	t.Parallel()
	entry := state.Entry{Config: json.RawMessage(`{"n":1}`), State: json.RawMessage(`{"id":"x"}`), Memory: json.RawMessage(`"m"`),
		Seen: map[string]uint64{"b": 1}}
	prior := state.Snapshot{Resources: map[string]state.Entry{"a": entry, "b": {Acted: 1}}}
	acts := func(addr string) bool { return addr == "b" }
	for name, c := range map[string]struct {
		refresh bool // the type asks for notifications
		intent  protocol.Intent
		entry   *state.Entry
		acts    func(string) bool
		want    protocol.StateInput
	}{
		"no entry": {true, protocol.Present, nil, acts, protocol.StateInput{}},
		"an entry alone": {true, protocol.Present, &entry, nil,
			protocol.StateInput{LastState: entry.State, Memory: entry.Memory}},
		"an entry and actions": {true, protocol.Present, &entry, acts,
			protocol.StateInput{LastState: entry.State, Memory: entry.Memory, LastConfig: entry.Config, Refresh: true, Changed: []string{"/n"}}},
		"a type without notifications": {false, protocol.Present, &entry, acts,
			protocol.StateInput{LastState: entry.State, Memory: entry.Memory, LastConfig: entry.Config}},
		"a removal": {true, protocol.Absent, &entry, acts,
			protocol.StateInput{LastState: entry.State, Memory: entry.Memory, LastConfig: entry.Config}},
	} {
		step := observe.Step{Target: typeclient.Target{Address: "a"}, Type: &protocol.Type{Protocol: 2, Refresh: c.refresh},
			Config: json.RawMessage(`{"n":2}`), Intent: c.intent, Subscribes: []string{"b"}}
		in, err := observe.Request(&step, c.entry, observe.Scope{Prior: prior, Acts: c.acts})
		if err != nil {
			t.Fatal(err)
		}
		if string(in.LastState) != string(c.want.LastState) || string(in.Memory) != string(c.want.Memory) ||
			string(in.LastConfig) != string(c.want.LastConfig) || in.Refresh != c.want.Refresh || !slices.Equal(in.Changed, c.want.Changed) {
			t.Errorf("%s: %+v, want %+v", name, in, c.want)
		}
		if string(in.Config) != `{"n":2}` || in.Intent != c.intent {
			t.Errorf("%s: config %s, intent %q", name, in.Config, in.Intent)
		}
	}
}

// What has changed is compared before unknown values become null.
func TestRequest_UnknownValuesAreChanged(t *testing.T) {
	t.Parallel()
	entry := state.Entry{Config: json.RawMessage(`{"a":null}`), State: json.RawMessage(`{}`)}
	step := observe.Step{Target: typeclient.Target{Address: "a"}, Type: &protocol.Type{Protocol: 2, Refresh: true}, Intent: protocol.Present,
		Config: json.RawMessage(`{"a":{"$unknown":"x"}}`), Unknown: map[string]string{"/a": "x"}}
	in, err := observe.Request(&step, &entry, observe.Scope{Acts: func(string) bool { return false }})
	if err != nil || string(in.Config) != `{"a":null}` || !slices.Equal(in.Unknown, []string{"/a"}) || len(in.Changed) == 0 {
		t.Errorf("config %s, unknown %q, changed %q, %v", in.Config, in.Unknown, in.Changed, err)
	}
}

type client struct {
	answer protocol.Answer
	err    error
}

func (c client) State(context.Context, typeclient.Target, protocol.Type, protocol.StateInput) (protocol.Answer, error) {
	return c.answer, c.err
}

// The change follows from the answer, what was asked for and whether the object is a publish.
func TestObserve_ChangeFollowsFromTheAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status    protocol.Status
		intent    protocol.Intent
		publishes bool
		want      observe.Change
	}{
		{protocol.Valid, protocol.Present, false, observe.Valid},
		{protocol.Stale, protocol.Present, false, observe.Update},
		{protocol.Missing, protocol.Present, false, observe.Create},
		{protocol.Missing, protocol.Present, true, observe.Publish},
		{protocol.Valid, protocol.Absent, false, observe.Destroy},
		{protocol.Stale, protocol.Absent, false, observe.Destroy},
		{protocol.Missing, protocol.Absent, false, observe.Forget},
	} {
		q := observe.Query{Step: observe.Step{Type: &protocol.Type{}, Intent: c.intent, Publishes: c.publishes}}
		if o := observe.Observe(t.Context(), client{answer: protocol.Answer{Status: c.status}}, q); o.Err != nil || o.Change != c.want {
			t.Errorf("%s, asked for %s: %q, want %q (%v)", c.status, c.intent, o.Change, c.want, o.Err)
		}
	}
}

// An observation names the places of secrets in the state, also in one that is not VALID. After an
// error there is neither a change nor a place.
func TestObserve_HidesSecretsOfTheConfigAndTheEntry(t *testing.T) {
	t.Parallel()
	entry := state.Entry{Config: json.RawMessage(`{"word":"older-secret"}`), Sensitive: state.Sensitive{Config: []string{"/word"}}}
	q := observe.Query{Step: observe.Step{Type: &protocol.Type{}, Config: json.RawMessage(`{"word":"newer-secret"}`), Intent: protocol.Present,
		Target: typeclient.Target{Sensitive: []string{"/word"}}}, Secrets: &observe.Secrets{Schemas: &typeschema.Schemas{}, Known: secret.NewHider(nil), Entry: observe.SecretsOf(entry)}}
	found := json.RawMessage(`{"a":"older-secret","b":"newer-secret","c":"plain"}`)
	for _, answer := range []protocol.Answer{{Status: protocol.Valid, State: found}, {Status: protocol.Stale, StaleState: found}} {
		if o := observe.Observe(t.Context(), client{answer: answer}, q); !slices.Equal(o.Hidden, []string{"/a", "/b"}) {
			t.Errorf("%s: %q", answer.Status, o.Hidden)
		}
	}
	if o := observe.Observe(t.Context(), client{err: errors.New("no"), answer: protocol.Answer{State: found}}, q); o.Err == nil || o.Change != "" || o.Hidden != nil {
		t.Errorf("after an error: %+v", o)
	}
}
