package plan

import (
	"testing"

	"deployster/config"
	"deployster/state"
)

// What the state file says of each resource is pinned, whether it was asked with
// others or after them.
func TestBuild_PinsEntries(t *testing.T) {
	t.Parallel()
	m, diags := config.Load(config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl",
		Bytes: []byte("resource \"kept\" {\n  type = \"acme/x\"\n}\nresource \"made\" {\n  type = \"acme/x\"\n}\n")}}}, nil, config.Builtins{Version: "0.1.0", Home: "/"})
	if len(diags) != 0 {
		t.Fatal(diags)
	}
	entry := state.Entry{Type: "acme/x", Digest: "sha256:1", Config: []byte(`{}`), State: []byte(`{}`)}
	recorded := state.Snapshot{Resources: map[string]state.Entry{"kept": entry, "gone": entry}}
	built, diags := Build(t.Context(), m, recorded, &asked{}, Options{Parallelism: 8})
	if len(diags) != 0 {
		t.Fatal(diags)
	}
	if pin := entry.Pin(); len(built.Entries) != 3 || built.Entries["kept"] != pin || built.Entries["gone"] != pin || built.Entries["made"] != "" {
		t.Errorf("%q, where %q is the pin of what is recorded", built.Entries, pin)
	}
	if built.Edges == nil {
		t.Error("a plan without edges has null in the place of a list")
	}
}

// A plan that nobody saves, judges or applies is the same plan, without what holds it to a state.
func TestBuild_OnlyShownPinsNothing(t *testing.T) {
	t.Parallel()
	m, diags := config.Load(config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl",
		Bytes: []byte("resource \"kept\" {\n  type = \"acme/x\"\n}\n")}}}, nil, config.Builtins{Version: "0.1.0", Home: "/"})
	if len(diags) != 0 {
		t.Fatal(diags)
	}
	entry := state.Entry{Type: "acme/x", Digest: "sha256:1", Config: []byte(`{}`), State: []byte(`{}`)}
	recorded := state.Snapshot{Resources: map[string]state.Entry{"kept": entry, "gone": entry}}
	made, diags := Build(t.Context(), m, recorded, &asked{}, Options{Parallelism: 8})
	shown, more := Build(t.Context(), m, recorded, &asked{}, Options{Parallelism: 8, OnlyShown: true})
	if len(diags)+len(more) != 0 {
		t.Fatal(diags, more)
	}
	if made.ID == "" || made.ID != Fingerprint(made) || shown.ID != "" || shown.Entries != nil {
		t.Errorf("the ids are %q and %q; %q is pinned by what is only shown", made.ID, shown.ID, shown.Entries)
	}
	if shown.Entries = made.Entries; Fingerprint(shown) != made.ID {
		t.Errorf("%+v is shown, and %+v would be done", shown, made)
	}
}
