package plan

import (
	"context"
	"testing"

	"deployster/config"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
	"deployster/state"
)

// finds is a Prober that finds every object with this state.
type finds struct {
	asked
	state string
}

func (f *finds) State(context.Context, typeclient.Target, protocol.Type, protocol.StateInput) (protocol.Answer, error) {
	return protocol.Answer{Status: protocol.Valid, State: []byte(f.state)}, nil
}

// A config that was evaluated with recorded states to match its resource is evaluated again where
// something else was found.
func TestBuild_ConfigsUseWhatIsFound(t *testing.T) {
	t.Parallel()
	for _, used := range []string{"resource.a.state", "resource.a.state.size"} {
		m, diags := config.Load(config.Sources{Manifests: []config.File{{Path: "x.hcl", Bytes: []byte("resource \"a\" {\n  type = \"acme/a\"\n}\n" +
			"resource \"b\" {\n  type   = \"acme/b\"\n  config = { of = " + used + " }\n}\n")}}}, nil, config.Builtins{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		prior := state.Snapshot{Lineage: "l", Resources: map[string]state.Entry{
			"a": {Type: "acme/a", Digest: "sha256:1", Config: []byte(`{}`), State: []byte(`{"size":1}`)},
			"b": {Type: "acme/b", Digest: "sha256:1", Config: []byte(`{"of":1}`), State: []byte(`{"size":1}`)},
		}}
		for found, want := range map[string]string{`{"size":1}`: "1", `{"size":2}`: "2"} {
			if used == "resource.a.state" {
				want = found
			}
			built, diags := Build(context.Background(), m, prior, &finds{state: found}, Options{Parallelism: 2})
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if got := string(built.Resources["b"].Config); got != `{"of":`+want+`}` {
				t.Errorf("%s with %s: %s", used, found, got)
			}
		}
	}
}
