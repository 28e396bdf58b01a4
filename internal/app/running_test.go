package app_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/app"
	"deployster/internal/app/resolving"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/ui/events"
	"deployster/plan"
	"deployster/state"
	"deployster/state/actions"
)

// outliving is a runtime in which each action still runs.
type outliving struct{ runnertest.Runtime }

func (outliving) Running(context.Context, string) (bool, error) { return true, nil }

// An action whose command has died runs for as long as its container: who lists open actions
// says so. Of one of another machine, or on a host, nobody is asked.
func TestStillRunning_MarksActionsWithAContainer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := workspace.Options{Dir: dir, DataDir: filepath.Join(dir, "data"), Version: "test"}
	e := app.New(app.Options{Workspace: o, Open: func(context.Context) (app.Runtime, error) {
		return outliving{runnertest.Runtime{Fake: runnertest.NewFake()}}, nil
	}})
	t.Cleanup(e.Close)
	file := state.File(filepath.Join(dir, workspace.DefaultState))
	store, err := e.Workspace.OpenState(t.Context(), file, "apply")
	if err != nil {
		t.Fatal(err)
	}
	journal, err := store.Begin("p", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := journal.ActionStarted(state.Start{Address: "a", Action: "create", Key: "k", Incomplete: &state.Entry{Type: "thing"}}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	prior, _, err := state.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	u := prior.Unsettled["a"]
	at := func(change func(*actions.By)) state.Snapshot {
		next, now := u, prior
		change(&next.By)
		now.Unsettled = map[string]actions.Unsettled{"a": next}
		return now
	}
	for name, c := range map[string]struct {
		s    state.Snapshot
		runs bool
	}{
		"its command has died":            {at(func(by *actions.By) { by.PID = 0 }), true},
		"another data directory":          {at(func(by *actions.By) { by.PID, by.Machine = 0, "other" }), false},
		"the machine was restarted since": {at(func(by *actions.By) { by.PID, by.Boot = 0, "other" }), false},
		"another machine began it":        {at(func(by *actions.By) { by.Host = "other" }), false},
	} {
		if got := resolving.StillRunning(t.Context(), e, c.s)["k"]; got != c.runs {
			t.Errorf("%s: runs is %v", name, got)
		}
	}
	far := at(func(by *actions.By) { by.PID = 0 })
	far.Resources = map[string]state.Entry{"a": {Settings: runner.Settings{Host: &runner.Host{Name: "web"}}}}
	if resolving.StillRunning(t.Context(), e, far)["k"] {
		t.Error("it is on a host, which was not asked")
	}
}

// A cluster knows an action by its state. So who reads how it goes is greeted with that state: a person may not state the end of what
// runs, and a plan warns of it.
func TestRunning_IsReportedToTheCommandsOfItsState(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, "h5")
	manifest := hostsAt("a", "h5") + onHost("a", "x")
	if err := n.apply(t, manifest, plan.Selection{}); err != nil {
		t.Fatal(err)
	}
	n.begin(t, "x")
	n.machines["h5"].runs = true
	if _, err := resolving.Resolve(t.Context(), n.engine(t, manifest), "x", actions.Failed, false); err == nil ||
		!strings.Contains(err.Error(), "has not ended") {
		t.Errorf("resolve: %v", err)
	}
	e := n.engine(t, manifest)
	warned := false
	e.Workspace.Events = func(event events.Event) {
		warned = warned || strings.Contains(fmt.Sprintf("%+v", event), "Actions still run")
	}
	if _, err := e.Plan(t.Context(), app.PlanOptions{}); err != nil || !warned {
		t.Errorf("plan: %v, warned: %t", err, warned)
	}
}
