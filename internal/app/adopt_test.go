package app

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"deployster/internal/app/command"
	"deployster/internal/app/unsettled"
	"deployster/internal/app/workspace"
	"deployster/internal/base/encryption"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/state"
)

// traces is a runtime that tells of each action the same.
type traces struct {
	runnertest.Runtime
	out runner.Outcome
}

func (t traces) Adopt(context.Context, string, runner.Watch) (runner.Outcome, error) {
	return t.out, nil
}

// seenLast is such a runtime, which looks at the state when a trace is discarded.
type seenLast struct {
	traces
	discarded func(key string)
}

func (s seenLast) Discard(_ context.Context, key string) error {
	s.discarded(key)
	return nil
}

// keptSteps are the steps that a run has put on record.
type keptSteps struct {
	command.Unrecorded
	steps []string
}

func (k *keptSteps) Add(i typeclient.Invocation) { k.steps = append(k.steps, i.Step) }

// A command that dies between its record and the start of an action has begun nothing: that is
// known where the containerd in which it would have begun has no trace of it, and only there.
func TestEngine_ActionsWithoutATraceWereNeverBegun(t *testing.T) {
	t.Parallel()
	none := runner.Outcome{Fate: runner.Unknown, NoTrace: true, Why: "there is no trace"}
	forgotten := none
	forgotten.Forgotten = time.Now().Add(time.Hour)
	lost := runner.Outcome{Fate: runner.Unknown, Why: "its worker has died"}
	for name, c := range map[string]struct {
		out     runner.Outcome
		data    string // of who died; "" = this one's
		unknown bool
	}{
		"no trace":                            {out: none},
		"its containerd says so":              {out: runner.Outcome{Fate: runner.NotBegun}},
		"traces were removed since":           {out: forgotten, unknown: true},
		"it was begun, and its end is lost":   {out: lost, unknown: true},
		"it was begun in another containerd":  {out: none, data: "other", unknown: true},
		"its containerd is not on the record": {out: none, data: "-", unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			data := filepath.Join(dir, "data")
			kept := &keptSteps{}
			open := func() *Engine {
				e := New(Options{Records: func(string, *encryption.Keyring) Records { return kept }, Workspace: workspace.Options{Dir: dir, DataDir: data, Version: "test"},
					Open: func(context.Context) (Runtime, error) {
						return traces{runnertest.Runtime{Fake: runnertest.NewFake()}, c.out}, nil
					}})
				t.Cleanup(e.Close)
				return e
			}
			file := state.File(filepath.Join(dir, workspace.DefaultState))
			dying := open()
			store, err := dying.Workspace.OpenState(t.Context(), file, "apply")
			switch c.data {
			case "":
			case "-":
				_ = store.Close() // opened anew
				store, err = state.Open(t.Context(), file, state.Options{Command: "deployster apply"})
			default:
				_ = store.Close() // opened anew
				store, err = state.Open(t.Context(), file, state.Options{Command: "deployster apply", Machine: c.data})
			}
			if err != nil {
				t.Fatal(err)
			}
			journal, err := store.Begin("p", "")
			if err != nil {
				t.Fatal(err)
			}
			entry := state.Entry{Type: "thing", Digest: "sha256:1", Config: json.RawMessage(`{}`)}
			if err := journal.ActionStarted(state.Start{Address: "a", Action: "create", Key: "k", Incomplete: &entry, Remembers: true}); err != nil {
				t.Fatal(err)
			}
			if err := store.Close(); err != nil { // it dies
				t.Fatal(err)
			}

			next := open()
			if _, err := next.Runtime(t.Context()); err != nil {
				t.Fatal(err)
			}
			prior, _, err := state.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			seen, _, err := finder(t, next, file).View(t.Context(), prior)
			if got := len(seen.Unsettled["a"].Names()) > 0; got != c.unknown || err != nil {
				t.Errorf("a plan takes it for unknown: %v, %v", got, err)
			}
			again, err := next.Workspace.OpenState(t.Context(), file, "apply")
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if _, err := finder(t, next, file).Adopt(t.Context(), again, nil); err != nil {
				t.Fatal(err)
			}
			if got := len(again.Snapshot().Unsettled["a"].Names()) > 0; got != c.unknown {
				t.Errorf("an apply takes it for unknown: %v", got)
			}
			if len(kept.steps) > 0 {
				t.Errorf("what never ran is on record: %v", kept.steps)
			}
		})
	}
}

// However many actions were in flight, one copy of the state is kept for how they ended,
// so that the earlier copies stay. All is on record before a trace of it goes.
func TestEngine_AdoptsAllAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, kept, discarded := state.File(filepath.Join(dir, workspace.DefaultState)), &keptSteps{}, ""
	ended := traces{runnertest.Runtime{Fake: runnertest.NewFake()}, runner.Outcome{Fate: runner.Exited}}
	e := New(Options{Records: func(string, *encryption.Keyring) Records { return kept },
		Workspace: workspace.Options{Dir: dir, DataDir: filepath.Join(dir, "data"), Version: "test"},
		Open: func(context.Context) (Runtime, error) {
			return seenLast{ended, func(key string) {
				discarded += key
				if s, _, err := state.Load(file); err != nil || len(s.Unknown()) > 0 {
					t.Errorf("the trace of %s went first: %v, %v", key, s.Unknown(), err)
				}
			}}, nil
		}})
	t.Cleanup(e.Close)
	open := func() *state.Store {
		store, err := e.Workspace.OpenState(t.Context(), file, "apply")
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	dying := open()
	journal, err := dying.Begin("p", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{"a", "b", "c"} {
		entry := state.Entry{Type: "thing", Digest: "sha256:1", Config: json.RawMessage(`{}`)}
		if err := journal.ActionStarted(state.Start{Address: addr, Action: "create", Key: addr, Incomplete: &entry}); err != nil {
			t.Fatal(err)
		}
	}
	if err := dying.Close(); err != nil { // it dies
		t.Fatal(err)
	}
	if _, err := e.Runtime(t.Context()); err != nil {
		t.Fatal(err)
	}
	store := open()
	defer store.Close()
	before := store.Snapshot().Serial
	if _, err := finder(t, e, file).Adopt(t.Context(), store, nil); err != nil {
		t.Fatal(err)
	}
	if s := store.Snapshot(); s.Serial != before+1 || len(s.Unknown()) > 0 || discarded != "abc" || len(kept.steps) != 3 {
		t.Errorf("serial %d after %d, unknown %v, discarded %q, on record %v", s.Serial, before, s.Unknown(), discarded, kept.steps)
	}
}

// finder returns what finds out how the actions of a state ended.
func finder(t *testing.T, e *Engine, place state.Place) unsettled.Finder {
	t.Helper()
	m, err := e.Machine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return unsettled.Finder{Command: e.Command(), Places: m.Places, Place: place}
}
