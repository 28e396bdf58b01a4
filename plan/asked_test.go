package plan

import (
	"slices"
	"testing"

	"deployster/config"
	"deployster/state"
)

// Who wants to know is told once that no image will be asked any more: after
// those of what is removed, too. What the state file says of each is pinned,
// whether it was asked with others or after them.
func TestBuildSaysWhenAllAreAsked(t *testing.T) {
	t.Parallel()
	m, diags := config.Load(config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl",
		Bytes: []byte("resource \"kept\" {\n  type = \"acme/x\"\n}\nresource \"made\" {\n  type = \"acme/x\"\n}\n")}}}, nil, config.Builtins{Version: "0.1.0", Home: "/"})
	if len(diags) != 0 {
		t.Fatal(diags)
	}
	entry := state.Entry{Type: "acme/x", Digest: "sha256:1", Config: []byte(`{}`), State: []byte(`{}`)}
	recorded := state.Snapshot{Resources: map[string]state.Entry{"kept": entry, "gone": entry}}
	p := &asked{}
	built, diags := Build(t.Context(), m, recorded, p, Options{Parallelism: 8, Asked: func() { p.note("all asked") }})
	if len(diags) != 0 {
		t.Fatal(diags)
	}
	if told := slices.Index(p.steps, "all asked"); told != len(p.steps)-1 || !slices.Contains(p.steps, "init gone") {
		t.Errorf("%q", p.steps)
	}
	if pin := state.EntryHash(entry); len(built.Entries) != 3 || built.Entries["kept"] != pin || built.Entries["gone"] != pin || built.Entries["made"] != "" {
		t.Errorf("%q, where %q is the pin of what is recorded", built.Entries, pin)
	}
}
