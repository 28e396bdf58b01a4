package repairs

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"deployster/internal/app"
	"deployster/internal/app/approval"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/plan"
	"deployster/plan/repair"
	"deployster/protocol"
	"deployster/state"
)

// thing is a manifest with one resource.
const thing = `
resource "a" {
  type   = "thing"
  config = { size = 1 }
}
`

// traces is a runtime that reports the same outcome of each action.
type traces struct {
	runnertest.Runtime
	out runner.Outcome
}

func (t traces) Adopt(context.Context, string, runner.Watch) (runner.Outcome, error) {
	return t.out, nil
}

// keeperOf returns a Keeper for an engine.
func keeperOf(t *testing.T, e *app.Engine) Keeper {
	t.Helper()
	m, err := e.Machine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return Keeper{e.Command(), m}
}

// A repair finds out how actions of a dead command ended, and is planned with that: an image
// is told what the action has said, and not that nobody knows it.
func TestRepair_IsPlannedWithWhatWasFoundOut(t *testing.T) {
	t.Parallel()
	dir, fake := t.TempDir(), runnertest.NewFake()
	var asked []protocol.StateInput
	fake.Add("thing", func(_ context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
		if len(s.Args) == 0 {
			_, _ = io.WriteString(stdout, `{"protocol":2,"memory":true,"state_action":{"args":["state"]}}`)
			return 0
		}
		var in protocol.StateInput
		if err := json.NewDecoder(stdin).Decode(&in); err != nil {
			return 90
		}
		asked = append(asked, in)
		_, _ = io.WriteString(stdout, `{"status":"VALID","state":{}}`)
		return 0
	})
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(thing), 0o600); err != nil {
		t.Fatal(err)
	}
	said := runner.Outcome{Fate: runner.Exited, Result: runner.Result{Stdout: []byte(`{"memory":"made"}`)}}
	e := app.New(app.Options{Workspace: workspace.Options{Dir: dir, Version: "test"},
		Open: func(context.Context) (app.Runtime, error) { return traces{runnertest.Runtime{Fake: fake}, said}, nil }})
	t.Cleanup(e.Close)
	if _, err := e.Apply(t.Context(), app.ApplyOptions{Approval: approval.Options{Auto: true}}); err != nil {
		t.Fatal(err)
	}
	file := state.File(filepath.Join(dir, workspace.DefaultState))
	store, err := e.Workspace.OpenState(t.Context(), file, "apply")
	if err != nil {
		t.Fatal(err)
	}
	journal, err := store.Begin("p", store.Snapshot().Lineage)
	if err == nil {
		err = journal.ActionStarted(state.Start{Address: "a", Action: "create", Key: "k", Remembers: true})
	}
	if err != nil || store.Close() != nil { // it dies
		t.Fatal(err)
	}
	if store, err = e.Workspace.OpenState(t.Context(), file, "plan"); err != nil || store.Close() != nil { // the next command folds its journal
		t.Fatal(err)
	}
	keeper := keeperOf(t, e)
	source, prior, err := keeper.Source(t.Context(), SourceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	looker, _, err := keeper.Checker(t.Context(), source, prior)
	if err != nil {
		t.Fatal(err)
	}
	asked = nil
	done, err := keeper.Repair(t.Context(), RepairOptions{Source: source, Prior: prior, Addresses: []string{"a"}, Kinds: []plan.Change{repair.Kind},
		Checker: looker, Ended: func() {}})
	if err != nil || len(asked) == 0 {
		t.Fatalf("%v, asked %d times", err, len(asked))
	}
	for _, in := range asked {
		if string(in.Memory) != `"made"` || len(in.Unsettled) > 0 {
			t.Errorf("it is told the memory %s, and that %v is not known", in.Memory, in.Unsettled)
		}
	}
	if len(prior.Unsettled["a"].Names()) != 1 || len(done.Snapshot.Unsettled["a"].Names()) != 0 {
		t.Errorf("not known were %v, and are %v", prior.Unsettled, done.Snapshot.Unsettled)
	}
}

// releasing is a store of artifacts that notes which of two keys it releases.
type releasing struct {
	artifact.Store
	released []string
}

func (r *releasing) Close() error { return nil }

func (r *releasing) Release(needed func(string) bool) error {
	for _, key := range []string{"old", "now"} {
		if !needed(key) {
			r.released = append(r.released, key)
		}
	}
	return nil
}

// A watch holds the files that its state needs, and not those of all versions that there were.
func TestLooker_ReleasesWhatTheStateNeedsNoMore(t *testing.T) {
	t.Parallel()
	dir, files := t.TempDir(), &releasing{}
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := app.New(app.Options{Workspace: workspace.Options{Dir: dir, Version: "test"},
		Open: func(context.Context) (app.Runtime, error) { return runnertest.Runtime{Fake: runnertest.NewFake()}, nil }})
	t.Cleanup(e.Close)
	keeper := keeperOf(t, e)
	keeper.Machine.Files.Store = files
	source, prior, err := keeper.Source(t.Context(), SourceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	prior.Pins = map[string]state.Pin{"now": {}}
	if _, _, err := keeper.Checker(t.Context(), source, prior); err != nil {
		t.Fatal(err)
	}
	if len(files.released) != 1 || files.released[0] != "old" {
		t.Errorf("released %v", files.released)
	}
}
