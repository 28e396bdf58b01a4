package typeclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// everything is an input in which nothing is left out.
func everything() protocol.ActionInput {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	return protocol.ActionInput{
		StateInput: protocol.StateInput{
			Config: raw(`{"size":9007199254740993,"html":"<b>"}`), Intent: protocol.Present, LastState: raw(`{"old":1}`), After: []string{"make", "grow"},
			Dependencies: map[string]protocol.Dependency{
				"net": {Name: "network", Type: "acme/net", Config: raw(`{"n":1}`), State: raw(`{"ip":"::1"}`), Status: protocol.Stale, Actions: []string{"grow"},
					Dependencies: map[string]protocol.Dependency{"zone": {Name: "z", Type: "acme/zone", Config: raw(`{}`), Properties: raw(`{"p":1}`), Status: protocol.Valid}}},
				"disk": {Name: "d", Type: "acme/disk"},
			},
		},
		StaleState: raw(`{"size":1}`), IdempotencyKey: "key-1",
	}
}

const common = `"name":"web","type":"acme/file:1","version":"0.1.0","verbose":true,"workspace":"/w","protocol":{"min":1,"max":2}`

// TestStdin_Host: an image that runs on another machine is told which, in both of its
// invocations; one of protocol 1 is not.
func TestStdin_Host(t *testing.T) {
	t.Parallel()
	c, fake := client(says(`{"status":"VALID","state":{}}`), func(o *Options) {
		o.Facts = func(_ context.Context, h runner.Host) (protocol.HostFacts, error) {
			if h.Address != "10.0.0.5" {
				return protocol.HostFacts{}, errors.New("another host is asked")
			}
			return protocol.HostFacts{Hostname: "web1", OS: "debian", OSVersion: "12", Arch: "amd64", Kernel: "6.1", CPUs: 2, Memory: 1024, Machine: "m1"}, nil
		}
	})
	digest := mustResolve(t, c)
	there := target()
	there.Settings.Host = &runner.Host{Name: `web["a"]`, Address: "10.0.0.5"}
	ty := protocol.Type{Reference: image, Digest: digest, Protocol: 2, StateAction: protocol.Command{Args: []string{"state"}}}
	one := ty
	one.Protocol = 1
	_, _ = c.State(t.Context(), there, ty, protocol.StateInput{})
	_, _ = c.Act(t.Context(), there, ty, protocol.Action{Name: "grow"}, protocol.ActionInput{})
	_, _ = c.State(t.Context(), target(), ty, protocol.StateInput{})
	_, _ = c.State(t.Context(), there, one, protocol.StateInput{})
	const host = `"host":{"name":"web[\"a\"]","facts":{"hostname":"web1","os":"debian","os_version":"12","arch":"amd64","kernel":"6.1","cpus":2,"memory":1024,"machine":"m1"}}`
	for i, want := range []struct {
		schema string
		told   bool
	}{{"state-input", true}, {"action-input", true}, {"state-input", false}, {"state-input-1", false}} {
		stdin := fake.Calls()[i].Stdin
		if bytes.Contains(stdin, []byte(host)) != want.told || bytes.Contains(stdin, []byte(`"host"`)) != want.told {
			t.Errorf("run %d: %s", i, stdin)
		}
		if found := published(t, want.schema, stdin); len(found) > 0 {
			t.Errorf("run %d does not match the published schema %s: %+v", i, want.schema, found)
		}
	}
}

// TestStdin_Bytes fixes every byte of what images read.
func TestStdin_Bytes(t *testing.T) {
	t.Parallel()
	c, fake := client(says(`{"status":"VALID","state":{},"properties":{}}`), func(o *Options) { o.Verbose = true })
	digest := mustResolve(t, c)
	ty := func(version int, deps bool) protocol.Type {
		return protocol.Type{Reference: image, Digest: digest, Protocol: version, Dependencies: deps, StateAction: protocol.Command{Args: []string{"state"}}}
	}
	in := everything()
	_, _ = c.Init(t.Context(), target())
	for _, k := range []protocol.Type{ty(1, false), ty(2, false), ty(2, true)} {
		_, _ = c.State(t.Context(), target(), k, in.StateInput)
	}
	_, _ = c.State(t.Context(), target(), ty(1, false), protocol.StateInput{})
	_, _ = c.State(t.Context(), target(), ty(2, true), protocol.StateInput{})
	act := protocol.Action{Name: "grow"}
	for _, k := range []protocol.Type{ty(1, false), ty(2, false), ty(2, true)} {
		_, _ = c.Act(t.Context(), target(), k, act, in)
	}
	_, _ = c.Act(t.Context(), target(), ty(2, false), act, protocol.ActionInput{ShownEffects: json.RawMessage(`{"adds":["lib"]}`)})

	const config = `"config":{"size":9007199254740993,"html":"<b>"}`
	const rest = `"action":"grow","staleState":{"size":1},"idempotency_key":"key-1"`
	const deps2 = `"dependencies":{"disk":{"name":"d","type":"acme/disk","config":{},"actions":[]},"net":{"name":"network","type":"acme/net","config":{"n":1},"state":{"ip":"::1"},"status":"STALE","actions":["grow"]}}`
	const state1 = `"name":"web","type":"acme/file:1",` + config + `,"dependencies":{"disk":{"name":"d","type":"acme/disk","config":{},"dependencies":{}},"net":{"name":"network","type":"acme/net","config":{"n":1},"properties":{"ip":"::1"},"dependencies":{"zone":{"name":"z","type":"acme/zone","config":{},"properties":{"p":1},"dependencies":{}}}}}`
	const action1 = `"name":"web","type":"acme/file:1",` + config + `,"dependencies":{"disk":{"name":"d","type":"acme/disk","config":{},"properties":{},"dependencies":{}},"net":{"name":"network","type":"acme/net","config":{"n":1},"properties":{"ip":"::1"},"dependencies":{"zone":{"name":"z","type":"acme/zone","config":{},"properties":{"p":1},"dependencies":{}}}}}`
	const state2 = common + `,` + config + `,"intent":"present","last_state":{"old":1}`
	const after2 = `,"after":["make","grow"]` // for the state only
	want := []struct{ what, schema, stdin string }{
		{"init", "init-input", `{` + common + `,"features":["guard","policy","notify","secret","actions","operations"],"config":{},"dependencies":{}}`},
		{"protocol 1 state", "state-input-1", `{` + state1 + `}`},
		{"protocol 2 state", "state-input", `{` + state2 + after2 + `}`},
		{"protocol 2 state with dependencies", "state-input", `{` + state2 + after2 + `,` + deps2 + `}`},
		{"protocol 1 state of little", "state-input-1", `{"name":"web","type":"acme/file:1","config":{},"dependencies":{}}`},
		{"protocol 2 state of little", "state-input", `{` + common + `,"config":{},"intent":"present","dependencies":{}}`},
		{"protocol 1 action", "action-input-1", `{` + action1 + `,` + rest + `}`},
		{"protocol 2 action", "action-input", `{` + state2 + `,` + rest + `}`},
		{"protocol 2 action with dependencies", "action-input", `{` + state2 + `,` + deps2 + `,` + rest + `}`},
		{"protocol 2 action of little", "action-input", `{` + common + `,"config":{},"intent":"present","action":"grow","staleState":{},"idempotency_key":"","shown_effects":{"adds":["lib"]}}`},
	}
	calls := fake.Calls()
	if len(calls) != len(want) {
		t.Fatalf("%d runs, want %d", len(calls), len(want))
	}
	for i, w := range want {
		if got := string(calls[i].Stdin); got != w.stdin+"\n" {
			t.Errorf("%s:\n got %s\nwant %s", w.what, got, w.stdin)
		}
		if found := published(t, w.schema, calls[i].Stdin); len(found) > 0 {
			t.Errorf("%s does not match the published schema %s: %+v", w.what, w.schema, found)
		}
	}
}
