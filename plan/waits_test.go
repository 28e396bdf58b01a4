package plan

import (
	"context"
	"errors"
	"maps"
	"testing"

	"deployster/config"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
	"deployster/state"
)

// ahead is a Prober of types that can be queried ahead. Nothing exists, and b fails.
type ahead struct {
	asked
	once map[string]bool // by address: it was to be queried once
}

func (a *ahead) Init(ctx context.Context, t typeclient.Target) (protocol.Type, error) {
	ty, err := a.asked.Init(ctx, t)
	ty.Unknowns = true
	return ty, err
}

func (a *ahead) State(_ context.Context, t typeclient.Target, _ protocol.Type, _ protocol.StateInput) (protocol.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.once[t.Address] = t.Once
	if t.Address == "b" {
		return protocol.Answer{}, errors.New("busy")
	}
	return protocol.Answer{Status: protocol.Missing, Actions: []protocol.Action{{Name: "make"}}}, nil
}

// An early query is made once, also after a transient error, and its error is not one of the plan.
func TestBuild_QueriesEarlyOnce(t *testing.T) {
	t.Parallel()
	manifest := `
resource "a" {
  type = "acme/x"
}
resource "b" {
  type       = "acme/x"
  depends_on = [resource.a]
}
resource "c" {
  type       = "acme/x"
  depends_on = [resource.b]
}
`
	m, diags := config.Load(config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(manifest)}}}, nil,
		config.Builtins{Version: "0.1.0", Home: "/"})
	if len(diags) != 0 {
		t.Fatal(diags)
	}
	p := &ahead{once: map[string]bool{}}
	built, diags := Build(t.Context(), m, state.Snapshot{}, p, Options{Parallelism: 2})
	if len(diags) != 0 {
		t.Fatal(diags)
	}
	if want := map[string]bool{"a": false, "b": true, "c": true}; !maps.Equal(p.once, want) {
		t.Errorf("queried once: %v, want %v", p.once, want)
	}
	if b, c := built.Resources["b"], built.Resources["c"]; b.Change() != Deferred || b.Certainty == Early || c.Change() != Create || c.Certainty != Early {
		t.Errorf("b is %s (%s), c is %s (%s)", b.Change(), b.Certainty, c.Change(), c.Certainty)
	}
}
