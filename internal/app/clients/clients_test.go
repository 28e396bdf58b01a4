package clients

import (
	"maps"
	"slices"
	"testing"

	"deployster/config"
	"deployster/plan"
	"deployster/state"
)

// A resource without an entry is queried again before its action and after it.
func TestBasis_ExpectsMoreOfWhatIsNotRecorded(t *testing.T) {
	t.Parallel()
	const text = "resource \"a\" {\n  type = \"acme/note:1\"\n}\nresource \"b\" {\n  type = \"acme/note:1\"\n  count = 3\n}\n" +
		"resource \"c\" {\n  type = \"acme/file:1\"\n}\n"
	m, diags := config.Load(config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(text)}}},
		nil, config.Builtins{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	of := Basis{Manifest: m, Prior: state.Snapshot{Resources: map[string]state.Entry{"a": {}, "c": {}}}}
	if got, want := of.expected(), map[string]int{"acme/note:1": 1 + 3*4, "acme/file:1": 1}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// What -replace asks for is put once: who goes on with a plan whose run died puts the rest.
func TestPutAgain_OnceForAPlan(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{ID: "p", Selection: plan.Selection{Replace: []string{"publish.a", "publish.b"}}}
	done := map[string]string{"publish.a": "sha256:1", "publish.b": ""}
	died := state.Snapshot{Applied: []state.Applied{{Plan: "p", Status: state.StatusDied, Done: done}}}
	other := state.Snapshot{Applied: []state.Applied{{Plan: "q", Status: state.StatusDied, Done: done}}}
	for name, c := range map[string]struct {
		prior state.Snapshot
		want  []string
	}{
		"nothing was applied":     {state.Snapshot{}, []string{"publish.a", "publish.b"}},
		"a run of it has died":    {died, []string{"publish.b"}},
		"another plan's has died": {other, []string{"publish.a", "publish.b"}},
	} {
		if got := putAgain(p, c.prior); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
