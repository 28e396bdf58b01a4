package operating

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/approval"
	"deployster/internal/app/resolving"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/plan/change"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/actions"
	"deployster/state/moves"
)

// databases is a world of objects with a size, on which operations run.
type databases struct {
	mu     sync.Mutex
	sizes  map[string]int
	ran    []protocol.OperationInput
	fails  bool
	before func() // called before an operation does anything
}

const describes = `{"protocol":2,"absent":true,"state_action":{"args":["state"]},"actions":["create","delete"],"operations":{
	"backup":{"label":"Write a backup","args":["op"],"changes":false,
		"config_schema":{"type":"object","properties":{"to":{"type":"string"},"token":{"type":"string","writeOnly":true}},
			"required":["to"],"additionalProperties":false}},
	"grow":{"args":["op"],"config_schema":{"type":"object","properties":{"by":{"type":"integer","default":1}}}},
	"vacuum":{"args":["op"],"idempotent":true}}}`

func (d *databases) program(_ context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
	if len(s.Args) == 0 {
		_, _ = io.WriteString(stdout, describes)
		return 0
	}
	var in struct {
		protocol.OperationInput
		Intent protocol.Intent
	}
	if json.NewDecoder(stdin).Decode(&in) != nil {
		return 90
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	size, exists := d.sizes[in.Name]
	switch s.Args[0] {
	case "state":
		answer := map[string]any{"status": "VALID", "state": map[string]int{"size": size}}
		if in.Intent == protocol.Absent && !exists {
			answer = map[string]any{"status": "MISSING"}
		} else if in.Intent == protocol.Absent {
			answer = map[string]any{"status": "STALE", "staleState": map[string]int{"size": size}, "actions": []any{action("delete")}}
		} else if !exists {
			answer = map[string]any{"status": "STALE", "actions": []any{action("create")}}
		} else if size > 100 {
			answer = map[string]any{"status": "STALE", "staleState": map[string]int{"size": size}, "actions": []any{action("create")}}
		}
		_ = json.NewEncoder(stdout).Encode(answer)
	case "create":
		if d.fails {
			return 7
		}
		d.sizes[in.Name] = 1
	case "delete":
		delete(d.sizes, in.Name)
	case "op":
		d.ran = append(d.ran, in.OperationInput)
		if d.before != nil {
			d.before()
		}
		if d.fails {
			return 7
		}
		if in.Operation == "grow" {
			var by struct{ By int }
			_ = json.Unmarshal(in.Input, &by)
			d.sizes[in.Name] += by.By
		}
	}
	return 0
}

func action(name string) map[string]any {
	return map[string]any{"name": name, "args": []string{name}}
}

// newEngine returns an engine whose manifest was applied.
func newEngine(t *testing.T, manifest string) (*app.Engine, *databases) {
	t.Helper()
	return newEngineOf(t, workspace.Options{}, manifest)
}

// newEngineOf returns an engine with further settings.
func newEngineOf(t *testing.T, o workspace.Options, manifest string) (*app.Engine, *databases) {
	t.Helper()
	dir, fake, world := t.TempDir(), runnertest.NewFake(), &databases{sizes: map[string]int{}}
	o.Dir, o.Version = dir, "test"
	fake.Add("db", world.program)
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	e := app.New(app.Options{Workspace: o,
		Open: func(context.Context) (app.Runtime, error) { return runnertest.Runtime{Fake: fake}, nil }})
	t.Cleanup(e.Close)
	applied(t, e)
	return e, world
}

func applied(t *testing.T, e *app.Engine) {
	t.Helper()
	report, err := e.Apply(t.Context(), app.ApplyOptions{Approval: approval.Options{Auto: true}})
	if err != nil || report.Status != apply.OK {
		t.Fatalf("%+v, %v", report, err)
	}
}

const one = `
resource "a" {
  type   = "db"
  config = { size = 1 }
}
`

func recorded(t *testing.T, e *app.Engine) state.Snapshot {
	t.Helper()
	s, err := e.Workspace.ReadState(t.Context(), e.Workspace.StatePlaceAround())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The image gets config, state and its own input; the state is queried again and recorded, and the run is among the others.
func TestRun_RecordsWhatBecameOfTheObject(t *testing.T) {
	e, world := newEngine(t, one)
	before := recorded(t, e)
	report, err := Run(t.Context(), e, Options{Pattern: "a", Name: "grow", Values: []Value{{"by", "4"}}, Auto: true})
	if err != nil || report.Status != apply.OK || !slices.Equal(report.Resources["a"].Completed, []string{"grow"}) {
		t.Fatalf("%+v, %v", report, err)
	}
	in := world.ran[0]
	if in.Operation != "grow" || string(in.Input) != `{"by":4}` || string(in.Config) != `{"size":1}` || string(in.State) != `{"size":1}` ||
		in.IdempotencyKey == "" {
		t.Errorf("its image got %+v", in)
	}
	now := recorded(t, e)
	last := now.Applied[len(now.Applied)-1]
	if string(now.Resources["a"].State) != `{"size":5}` || now.Resources["a"].Dirty || now.Serial != before.Serial+1 ||
		last.By.Command != "deployster operation run" || len(now.Unsettled) != 0 {
		t.Errorf("recorded %+v, the last run %+v, unsettled %v", now.Resources["a"], last, now.Unsettled)
	}
	if _, err = Run(t.Context(), e, Options{Pattern: "a", Name: "grow", Values: []Value{{"by", "200"}}, Auto: true}); err != nil {
		t.Fatal(err)
	}
	if found := recorded(t, e).Resources["a"].LastSeen; found == nil || string(found.State) != `{"size":205}` {
		t.Errorf("the object differs from its config, and the state has %+v", found)
	}
}

// What is wrong is refused before anything runs, and changes nothing.
func TestRun_Refuses(t *testing.T) {
	e, world := newEngine(t, one)
	before := recorded(t, e)
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"an unknown resource":  {Options{Pattern: "b", Name: "grow", Auto: true}, "No such resource"},
		"an unknown operation": {Options{Pattern: "a", Name: "grwo", Auto: true}, `Did you mean "grow"?`},
		"a missing input":      {Options{Pattern: "a", Name: "backup", Auto: true}, "Invalid input"},
		"an unknown input":     {Options{Pattern: "a", Name: "backup", Values: []Value{{"to", "x"}, {"at", "y"}}, Auto: true}, "Invalid input"},
		"an input of another type": {Options{Pattern: "a", Name: "grow", Values: []Value{{"by", "much"}}, Auto: true},
			"takes a value of the type integer"},
		"nobody to ask": {Options{Pattern: "a", Name: "grow"}, "Approval required"},
		"not approved":  {Options{Pattern: "a", Name: "grow", Ask: true}, "Not approved"}, // command.Nobody says no
	} {
		report, err := Run(t.Context(), e, c.o)
		if err == nil || report != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if now := recorded(t, e); len(world.ran) > 0 || now.Serial != before.Serial {
		t.Errorf("%d runs, serial %d, was %d", len(world.ran), now.Serial, before.Serial)
	}
}

// A wrong address is an error before anything is needed that runs containers.
func TestRun_RefusesAnAddressBeforeContainerdIsNeeded(t *testing.T) {
	applied, _ := newEngine(t, one)
	e := app.New(app.Options{Workspace: applied.Workspace.Options,
		Open: func(context.Context) (app.Runtime, error) { return nil, errors.New("there is no containerd") }})
	t.Cleanup(e.Close)
	for pattern, want := range map[string]string{"nothing": "The state has no resource nothing", "a": "there is no containerd"} {
		if _, err := Run(t.Context(), e, Options{Pattern: pattern, Name: "backup", Auto: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", pattern, err, want)
		}
	}
}

// What changes nothing needs no lock, and runs beside who has it.
func TestRun_WithoutALock(t *testing.T) {
	e, world := newEngine(t, one)
	before := recorded(t, e)
	store, err := e.Workspace.OpenState(t.Context(), e.Workspace.StatePlaceAround(), "apply")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if _, err := Run(t.Context(), e, Options{Pattern: "a", Name: "grow", Auto: true}); err == nil {
		t.Error("an operation that changes the object ran beside another command")
	}
	report, err := Run(t.Context(), e, Options{Pattern: "a", Name: "backup", Values: []Value{{"to", "x"}}, Auto: true})
	if err != nil || report.Status != apply.OK || len(world.ran) != 1 {
		t.Errorf("%+v, %v, %d runs", report, err, len(world.ran))
	}
	if now := recorded(t, e); now.Serial != before.Serial {
		t.Error("it changed the state")
	}
}

// died leaves a run of an operation whose process died.
func died(t *testing.T, e *app.Engine, name string) {
	t.Helper()
	store, err := e.Workspace.OpenState(t.Context(), e.Workspace.StatePlaceAround(), "operation run")
	if err != nil {
		t.Fatal(err)
	}
	journal, err := store.Begin("p", store.Snapshot().Lineage)
	if err == nil {
		err = journal.ActionStarted(state.Start{Address: moves.OperationKey("a", name), Action: name, Key: "k"})
	}
	if err != nil || store.Close() != nil {
		t.Fatal(err)
	}
}

// An operation of unknown end is not repeated, whatever else is applied, until a person says how it ended. Nothing else waits.
func TestRun_NotAfterAnUnknownEnd(t *testing.T) {
	e, world := newEngine(t, one)
	died(t, e, "grow")
	o := Options{Pattern: "a", Name: "grow", Auto: true}
	if _, err := Run(t.Context(), e, o); err == nil || !strings.Contains(err.Error(), "The outcome of the last run is unknown") {
		t.Errorf("after an unknown end: %v", err)
	}
	applied(t, e) // its image says VALID
	key := moves.OperationKey("a", "grow")
	if now := recorded(t, e); !slices.Equal(now.Unexplained(), []string{key}) || now.Resources["a"].Dirty {
		t.Errorf("after VALID %v is open, and the entry is dirty: %v", now.Unexplained(), now.Resources["a"].Dirty)
	}
	if _, err := Run(t.Context(), e, o); err == nil || len(world.ran) > 0 {
		t.Errorf("after VALID: %v, %d runs", err, len(world.ran))
	}
	for _, other := range []string{"backup", "vacuum"} {
		if _, err := Run(t.Context(), e, Options{Pattern: "a", Name: other, Values: []Value{{"to", "x"}}, Auto: true}); err != nil {
			t.Errorf("another operation waits: %v", err)
		}
	}
	if _, err := resolving.Resolve(t.Context(), e, key, actions.Failed, false); err != nil {
		t.Fatal(err)
	}
	if report, err := Run(t.Context(), e, o); err != nil || report.Status != apply.OK {
		t.Errorf("after resolve: %+v, %v", report, err)
	}
}

// An operation that says idempotent runs again, and then nothing is unknown any more.
func TestRun_AgainIfIdempotent(t *testing.T) {
	e, world := newEngine(t, one)
	died(t, e, "vacuum")
	report, err := Run(t.Context(), e, Options{Pattern: "a", Name: "vacuum", Auto: true})
	if err != nil || report.Status != apply.OK || len(world.ran) != 1 || len(recorded(t, e).Unsettled) != 0 {
		t.Errorf("%+v, %v, %d runs, unsettled %v", report, err, len(world.ran), recorded(t, e).Unsettled)
	}
}

// Two resources at a time, and nothing new after a failure.
func TestRun_OnSeveral(t *testing.T) {
	e, world := newEngine(t, one+strings.ReplaceAll(one, `"a"`, `"bc"`)+strings.ReplaceAll(one, `"a"`, `"bd"`))
	report, err := Run(t.Context(), e, Options{Pattern: "b*", Name: "grow", Auto: true})
	if err != nil || report.Status != apply.OK || len(report.Resources) != 2 || len(world.ran) != 2 {
		t.Fatalf("%+v, %v, %d runs", report, err, len(world.ran))
	}
	world.fails = true
	report, err = Run(t.Context(), e, Options{Pattern: "*", Name: "grow", Auto: true, Parallelism: 1})
	counts := report.Counts()
	if err != nil || report.Status != apply.Error || counts[apply.Error] != 1 || counts[apply.NotStarted] != 2 || len(report.Problems) != 1 {
		t.Errorf("%+v, %v", counts, err)
	}
	for _, one := range report.Resources {
		if one.Status == apply.Error && (one.ExitCode != 7 || one.Failed != "grow") {
			t.Errorf("%+v", one)
		}
	}
	if now := recorded(t, e); len(now.Unsettled) != 0 || now.Applied[len(now.Applied)-1].Status != state.StatusError {
		t.Errorf("a known failure is open: %v", now.Unsettled)
	}
}

// The secrets of an input are neither shown nor kept in what a run says.
func TestTask_HidesSecrets(t *testing.T) {
	e, _ := newEngine(t, one)
	if _, err := Run(t.Context(), e, Options{Pattern: "a", Name: "backup", Values: []Value{{"to", "x"}, {"token", "s3cr3t-token"}}, Auto: true}); err != nil {
		t.Fatal(err)
	}
	if text := e.Workspace.Secrets.Hide("the token s3cr3t-token"); strings.Contains(text, "s3cr3t-token") {
		t.Errorf("not known as a secret: %s", text)
	}
	shown := task{addr: "a", name: "backup", input: json.RawMessage(`{"token":"s3cr3t-token"}`), sensitive: []string{"/token"},
		step: recordedStep(t)}.text()
	if strings.Contains(shown, "s3cr3t-token") {
		t.Errorf("shown: %s", shown)
	}
}

// A removal of the resource takes its open operations with it; a move takes them along.
func TestSnapshot_OperationsFollowTheirResource(t *testing.T) {
	e, _ := newEngine(t, one)
	died(t, e, "grow")
	moved, err := recorded(t, e).Moved([]moves.Move{{From: "a", To: "b"}})
	if err != nil || !slices.Equal(moved.Unexplained(), []string{moves.OperationKey("b", "grow")}) {
		t.Errorf("%v, %v", moved.Unexplained(), err)
	}
	if err := os.WriteFile(filepath.Join(e.Workspace.Dir, "main.hcl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	applied(t, e)
	if now := recorded(t, e); len(now.Unsettled) != 0 || len(now.Resources) != 0 {
		t.Errorf("left: %v, %v", now.Unsettled, now.Resources)
	}
}

// An action outside of the list of its type is a fault of the image, and a name in a manifest too.
func TestActions_AreThoseOfTheList(t *testing.T) {
	e, world := newEngine(t, one)
	world.sizes["a"] = 1
	manifest := strings.Replace(one, "config = { size = 1 }", "config = { size = 1 }\n  watch {\n    actions = [\"craete\"]\n  }", 1)
	if err := os.WriteFile(filepath.Join(e.Workspace.Dir, "main.hcl"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := e.Plan(t.Context(), app.PlanOptions{})
	if err == nil || !strings.Contains(err.Error(), `Did you mean "create"?`) {
		t.Errorf("%v", err)
	}
	for _, d := range diag.From("", err) {
		if d.Range == nil || d.Range.Start.Line != 6 {
			t.Errorf("without its place: %+v", d)
		}
	}
}

// recordedStep returns the step of an entry without rights.
func recordedStep(t *testing.T) *change.Step {
	t.Helper()
	return change.RecordedStep(state.Entry{Type: "db"})
}

// runs is a runtime in which the last run of an operation still runs.
type runs struct{ runnertest.Runtime }

func (runs) Running(context.Context, string) (bool, error) { return true, nil }

// Two runs are never begun at a time, also where the operation may be repeated; an apply does not wait for one.
func TestRun_NotTwiceAtATime(t *testing.T) {
	e, world := newEngine(t, one)
	died(t, e, "vacuum")
	fake := runnertest.NewFake()
	fake.Add("db", world.program)
	other := app.New(app.Options{Workspace: workspace.Options{Dir: e.Workspace.Dir, Version: "test"},
		Open: func(context.Context) (app.Runtime, error) { return runs{runnertest.Runtime{Fake: fake}}, nil }})
	t.Cleanup(other.Close)
	_, err := Run(t.Context(), other, Options{Pattern: "a", Name: "vacuum", Auto: true})
	if err == nil || !strings.Contains(err.Error(), "The operation still runs") || len(world.ran) > 0 {
		t.Errorf("%v, %d runs", err, len(world.ran))
	}
	applied(t, other)
}

// The start of a run is on the disk before its container: who dies then leaves an open run.
func TestRun_IsRecordedBeforeItRuns(t *testing.T) {
	e, world := newEngine(t, one)
	open := 0
	world.before = func() {
		s, _, err := state.Load(e.Workspace.StatePlaceAround())
		if err != nil {
			t.Error(err)
		}
		open = len(s.Unknown())
	}
	if _, err := Run(t.Context(), e, Options{Pattern: "a", Name: "grow", Auto: true}); err != nil || open != 1 {
		t.Errorf("%v, %d open runs while it ran", err, open)
	}
}
