package app

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"deployster/apply"
	"deployster/internal/app/approval"
	"deployster/internal/app/workspace"
	"deployster/internal/runner/runnertest"
	"deployster/plan"
)

// thing is a manifest with one resource.
const thing = `
resource "a" {
  type   = "thing"
  config = { size = 1 }
}
`

// newEngine returns an engine in a directory with the manifest thing, and the world
// that its type acts upon.
func newEngine(t *testing.T) (*Engine, *runnertest.World) {
	dir, world, fake := t.TempDir(), runnertest.NewWorld(), runnertest.NewFake()
	fake.Add("thing", world.Program)
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(thing), 0o600); err != nil {
		t.Fatal(err)
	}
	e := New(Options{Workspace: workspace.Options{Dir: dir, Version: "test"},
		Open: func(context.Context) (Runtime, error) { return runnertest.Runtime{Fake: fake}, nil }})
	t.Cleanup(e.Close)
	return e, world
}

func TestEngine_Plan(t *testing.T) {
	e, world := newEngine(t)
	p, err := e.Plan(t.Context(), PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for addr, step := range p.Resources {
		if step.Change != plan.Create {
			t.Errorf("%s: %s, want create", addr, step.Change)
		}
	}
	if len(p.Resources) != 1 || len(world.Things()) != 0 {
		t.Errorf("%d resources are planned, %d were made; want 1 and 0", len(p.Resources), len(world.Things()))
	}
}

func TestEngine_Apply(t *testing.T) {
	e, world := newEngine(t)
	report, err := e.Apply(t.Context(), ApplyOptions{Approval: approval.Options{Auto: true}})
	if err != nil || report.Status != apply.OK {
		t.Fatalf("%+v, %v", report, err)
	}
	if len(world.Things()) != 1 {
		t.Errorf("the world has %v, want one thing", world.Things())
	}
	snapshot, err := e.ReadStateAround(t.Context())
	if err != nil || len(snapshot.Resources) != 1 {
		t.Errorf("the state has %d resources (%v), want 1", len(snapshot.Resources), err)
	}
}

func TestEngine_ApplyUnapproved(t *testing.T) {
	e, world := newEngine(t)
	report, err := e.Apply(t.Context(), ApplyOptions{})
	if err == nil || report != nil {
		t.Errorf("%+v, %v; want an error, as nobody can be asked", report, err)
	}
	if len(world.Things()) != 0 {
		t.Errorf("the world has %v, want nothing", world.Things())
	}
}
