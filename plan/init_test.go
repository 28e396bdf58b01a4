package plan

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"deployster/config"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
	"deployster/state"
)

// asked is a Prober that notes what it was asked.
type asked struct {
	typeschema.Schemas

	mu    sync.Mutex
	steps []string
}

func (a *asked) note(step string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.steps = append(a.steps, step)
}

func (a *asked) Init(_ context.Context, t typeclient.Target) (protocol.Type, error) {
	if t.Address == "a" || t.Address == "b" {
		time.Sleep(10 * time.Millisecond) // the others would overtake it
	}
	a.note("init " + t.Address)
	return protocol.Type{Reference: t.Reference, Digest: "sha256:1", Protocol: 2, StateAction: protocol.Command{Args: []string{"state"}}}, nil
}

func (a *asked) State(_ context.Context, t typeclient.Target, _ protocol.Type, _ protocol.StateInput) (protocol.Answer, error) {
	a.note("state " + t.Address)
	return protocol.Answer{Status: protocol.Valid, State: []byte(`{}`)}, nil
}

func (a *asked) Discover(context.Context, typeclient.Target, protocol.Type, json.RawMessage) ([]typeclient.Discovered, error) {
	return nil, nil
}

func (a *asked) CheckConfig(protocol.Type, json.RawMessage, map[string]string) []typeschema.Violation {
	return nil
}

func (a *asked) Images() map[string]string { return nil }

// All are initialised before any is asked for its state, and of those of one
// type the first by its address begins.
func TestInit_ComesFirst(t *testing.T) {
	t.Parallel()
	manifest := `
resource "a" {
  type = "acme/x"
}
resource "b" {
  type = "acme/y"
}
resource "c" {
  type = "acme/x"
}
resource "d" {
  type = "acme/y"
}
`
	m, diags := config.Load(config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(manifest)}}}, nil, config.Builtins{Version: "0.1.0", Home: "/"})
	if len(diags) != 0 {
		t.Fatal(diags)
	}
	p := &asked{}
	if _, diags := Build(t.Context(), m, state.Snapshot{}, p, Options{Parallelism: 8}); len(diags) != 0 {
		t.Fatal(diags)
	}
	if len(p.steps) != 8 {
		t.Fatalf("%q", p.steps)
	}
	first, second, states := p.steps[:2], p.steps[2:4], p.steps[4:]
	slices.Sort(first)
	slices.Sort(second)
	slices.Sort(states)
	got := slices.Concat(first, second, states)
	if want := []string{"init a", "init b", "init c", "init d", "state a", "state b", "state c", "state d"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func (a *asked) Validate(context.Context, typeclient.Target, protocol.Type, json.RawMessage, map[string]string) ([]protocol.Finding, error) {
	return nil, nil
}
