package repair

import (
	"strings"
	"testing"

	"deployster/config"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/protocol"
	"deployster/state"
)

// declared returns a manifest with the resource a, and with these lines in its block.
func declared(t *testing.T, lines ...string) *config.Manifest {
	t.Helper()
	m, diags := config.Load(config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl",
		Bytes: []byte("resource \"a\" {\n  type = \"thing\"\n" + strings.Join(lines, "\n") + "\n}\n")}}}, nil, config.Builtins{Version: "0.1.0", Home: "/"})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return m
}

// What an interrupted run has made is recorded where making it is approved. What nobody here
// began to make stays with people.
func TestPolicy_OfAnInterruptedCreate(t *testing.T) {
	t.Parallel()
	m := declared(t)
	begun := map[string]state.Entry{"a": {Digest: "sha256:1"}}
	for name, c := range map[string]struct {
		prior     map[string]state.Entry
		kinds     []plan.Change
		publishes bool
		covered   bool
	}{
		"it was begun here":              {begun, []plan.Change{Kind, plan.Create}, false, true},
		"creating is not approved":       {begun, []plan.Change{Kind, plan.Update}, false, false},
		"nobody here began it":           {nil, []plan.Change{Kind, plan.Create}, false, false},
		"a publish":                      {begun, []plan.Change{plan.Publish}, true, true},
		"and publishing is not approved": {begun, []plan.Change{plan.Create}, true, false},
	} {
		p := Policy{Manifest: m, Whole: true, Kinds: c.kinds, Prior: state.Snapshot{Resources: c.prior}}
		step := &plan.Step{Publishes: c.publishes, Part: &change.Valid{Found: change.Found{Adopted: true}}}
		if why := p.refusal("a", step, false); (why == "") != c.covered {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// A refusal says whether the manifest has changed how a resource is run, or what is done to it.
func TestPolicy_ReportsWhatHasChanged(t *testing.T) {
	t.Parallel()
	m := declared(t)
	prior := state.Snapshot{Resources: map[string]state.Entry{"a": {Config: []byte(`{"v":1}`), State: []byte(`{}`)}}}
	p := Policy{Manifest: m, Kinds: []plan.Change{Kind}, Prior: prior}
	for want, step := range map[string]*plan.Step{
		"": {Config: []byte(`{"v":1}`), Part: &change.Update{}},
		"to update it would not just restore what was recorded": {Config: []byte(`{"v":2}`), Part: &change.Update{}},
		"that is not drift: changed since the last apply: what it is given of b": {Config: []byte(`{"v":1}`),
			Aliases: map[string]string{"d": "b"}, Part: &change.Update{}},
	} {
		if why := p.refusal("a", step, false); why != want {
			t.Errorf("it says %q, want %q", why, want)
		}
	}
}

// A type may say that its resources are not repaired by default, as a command is. The watch
// block of a resource decides.
func TestPolicy_TypeDeclaresWhetherItIsRepaired(t *testing.T) {
	t.Parallel()
	prior := state.Snapshot{Resources: map[string]state.Entry{"a": {Config: []byte(`{}`), State: []byte(`{}`)}}}
	for _, c := range []struct {
		lines, want string
		byPerson    bool
	}{
		{"", "", false},
		{"watch { repair = false }", "it has watch { repair = false }", false},
		{"", "its type is not repaired by default: watch { repair = true } allows that", true},
		{"watch { repair = true }", "", true},
		{"watch { repair = false }", "it has watch { repair = false }", true},
	} {
		p := Policy{Manifest: declared(t, c.lines), Kinds: []plan.Change{Kind}, Prior: prior}
		step := &plan.Step{Config: []byte(`{}`), Init: protocol.Type{ByPerson: c.byPerson}, Part: &change.Update{}}
		if why := p.refusal("a", step, false); why != c.want {
			t.Errorf("%q, %v: %q, and not %q", c.lines, c.byPerson, why, c.want)
		}
	}
}
