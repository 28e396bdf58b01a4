package entries

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"deployster/apply/facts"
	"deployster/apply/query"
	"deployster/config"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/plan/artifacts"
	"deployster/plan/change"
	"deployster/plan/observe"
	"deployster/protocol"
	"deployster/state"
)

const passing = `artifact "site" {
  type   = "acme/git:1"
  source = { uri = "u" }
}
artifact "tested" {
  type   = "acme/git:1"
  source = { uri = "u" }
  passed = [resource.tests]
}
resource "tests" {
  type     = "acme/tests:1"
  for_each = { a = 1 }
  config   = { rev = artifact.site.version.ref }
}
resource "other" {
  type   = "acme/tests:1"
  config = { rev = artifact.site.version.ref }
}
`

// A resource that an artifact names in passed records the versions with which it was VALID, and no other.
func TestPassed_OnlyWhatWasValidWithIt(t *testing.T) {
	t.Parallel()
	const named, other = `tests["a"]`, "other"
	for name, c := range map[string]struct {
		addr string
		edit func(*plan.Plan, *plan.Step)
		made func(*Entries, *plan.Step) state.Entry
		want string
	}{
		"VALID":           {addr: named, want: "1 2"},
		"not named":       {addr: other, want: "1"},
		"not queried":     {addr: named, want: "1", edit: func(_ *plan.Plan, s *plan.Step) { s.Part.(*change.Valid).Unrefreshed = true }},
		"keeps its value": {addr: named, want: "1", edit: func(_ *plan.Plan, s *plan.Step) { s.Ignored = []string{"/rev"} }},
		"only recorded":   {addr: named, want: "1", edit: func(p *plan.Plan, _ *plan.Step) { p.Selection.RefreshOnly = true }},
		"VALID no more": {addr: named, want: "1", made: func(e *Entries, s *plan.Step) state.Entry {
			return e.Lost(s, named, protocol.StateInput{}, Found{Seen: time.Now()})
		}},
		"another object begins": {addr: named, want: "1", edit: func(_ *plan.Plan, s *plan.Step) { s.OtherObject = true },
			made: func(e *Entries, s *plan.Step) state.Entry { return *e.Incomplete(s, named, protocol.StateInput{}, nil) }},
	} {
		m, diags := config.Load(config.Sources{Dir: t.TempDir(), Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(passing)}}}, nil, config.Builtins{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		pin := artifacts.Pin{Key: "k"}
		pin.Type, pin.Recipe = "acme/git:1", artifact.Recipe{Source: json.RawMessage(`{"uri":"u"}`), Version: artifact.Version{"ref": "2"}}
		before := state.Passed{Version: artifact.Version{"ref": "1"}}
		step := &plan.Step{Type: "acme/tests:1", Part: change.New(observe.Valid), Config: json.RawMessage(`{"rev":"2"}`)}
		p := &plan.Plan{Artifacts: map[string]artifacts.Pin{"site": pin}, Resources: map[string]*plan.Step{c.addr: step}}
		if c.edit != nil {
			c.edit(p, step)
		}
		prior := state.Snapshot{Resources: map[string]state.Entry{c.addr: {Passed: []state.Passed{before}, State: json.RawMessage(`{}`)}}}
		client := typeclient.New(typeclient.Options{Runner: runnertest.NewFake()})
		e := New(query.New(context.Background(), query.Of{Plan: p, Prior: prior, Manifest: m, Facts: facts.New(p), Client: client}))
		entry, differs := e.Valid(step, c.addr, protocol.StateInput{Config: step.Config}, Found{State: json.RawMessage(`{}`), Seen: time.Now()})
		if c.made != nil {
			entry = c.made(e, step)
		}
		got := ""
		for _, v := range entry.Passed {
			got += " " + v.Version.String()
		}
		if got != " "+c.want {
			t.Errorf("%s: has passed%s, and not %s", name, got, c.want)
		}
		if !differs {
			t.Errorf("%s: is not recorded", name)
		}
	}
}
