package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deployster/apply"
	"deployster/internal/app/approval"
	"deployster/internal/app/command"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/runnertest"
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
		if step.Change() != plan.Create {
			t.Errorf("%s: %s, want create", addr, step.Change())
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
	snapshot, err := e.Workspace.ReadState(t.Context(), e.Workspace.StatePlaceAround())
	if err != nil || len(snapshot.Resources) != 1 {
		t.Errorf("the state has %d resources (%v), want 1", len(snapshot.Resources), err)
	}
}

func TestEngine_ApplyUnapproved(t *testing.T) {
	e, world := newEngine(t)
	report, err := e.Apply(t.Context(), ApplyOptions{})
	if err == nil || report != nil {
		t.Errorf("%+v, %v; want an error, as there is no terminal to prompt on", report, err)
	}
	if len(world.Things()) != 0 {
		t.Errorf("the world has %v, want nothing", world.Things())
	}
}

// An engine that is closed once more does nothing, and says once what was left.
func TestEngine_ClosedTwice(t *testing.T) {
	warnings := &warned{}
	e := New(Options{UI: warnings, Workspace: workspace.Options{Dir: t.TempDir(), Version: "test"}, Open: func(context.Context) (Runtime, error) {
		return leaving{runnertest.Runtime{Fake: runnertest.NewFake()}}, nil
	}})
	if _, err := e.Runtime(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		e.Close()
		e.Close()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("it hangs")
	}
	if warnings.times != 1 {
		t.Errorf("%d warnings, want 1", warnings.times)
	}
}

// leaving is a runtime that leaves something behind.
type leaving struct{ Runtime }

func (l leaving) Close() error { return errors.Join(l.Runtime.Close(), errors.New("a snapshot stays")) }

// warned counts what it is told.
type warned struct {
	command.Nobody
	times int
}

func (w *warned) Diagnostics(d diag.Diagnostics) { w.times += len(d) }
