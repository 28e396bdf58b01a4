package operating

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/approval"
	"deployster/internal/app/resolving"
	"deployster/plan"
	"deployster/state"
	"deployster/state/actions"
	"deployster/state/moves"
)

const nightly = one + `
operation "nightly" {
  resource = resource.a
  run      = "grow"
  input    = { by = 2 }
  schedule = "0 2 * * *"
}
`

// later returns a time after the nearest 02:00 UTC that follows the apply, by some days.
func later(t *testing.T, e *app.Engine, days int) time.Time {
	t.Helper()
	since := recorded(t, e).Operations["nightly"].Since
	return time.Date(since.Year(), since.Month(), since.Day()+1+days, 2, 30, 0, 0, time.UTC)
}

func schedulerOf(t *testing.T, e *app.Engine) Scheduler {
	t.Helper()
	m, err := e.Machine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return Scheduler{Command: e.Command(), Machine: m, Place: e.Workspace.StatePlaceAround()}
}

// An operation block counts once it is applied; a turn runs once, is recorded, and what was missed counts once.
func TestTurn_OnceWhatWasMissed(t *testing.T) {
	e, world := newEngine(t, nightly)
	s := schedulerOf(t, e)
	soon := recorded(t, e).Operations["nightly"].Since.Add(time.Second)
	if due := Due(recorded(t, e), soon); len(due) > 0 && soon.Hour() != 2 {
		t.Errorf("due at once: %v", due)
	}
	now := later(t, e, 5)
	world.before = func() { // the turn is on the disk before it starts
		read, _, err := state.Load(e.Workspace.StatePlaceAround())
		if err != nil || read.Operations["nightly"].Turn.Hour() != 2 {
			t.Errorf("while it runs: %+v, %v", read.Operations["nightly"], err)
		}
	}
	report, rest, err := s.Turn(t.Context(), "nightly", now)
	if err != nil || rest != nil || report.Status != apply.OK {
		t.Fatalf("%+v, %v", report, err)
	}
	after := recorded(t, e)
	if turn := after.Operations["nightly"].Turn; !turn.Equal(now.Truncate(time.Hour)) || string(after.Resources["a"].State) != `{"size":3}` {
		t.Errorf("the turn %s, the state %s", turn, after.Resources["a"].State)
	}
	for range 2 { // another watch, which has seen the state before
		if report, _, err := s.Turn(t.Context(), "nightly", now); report != nil || err != nil || len(world.ran) != 1 {
			t.Errorf("again: %+v, %v, %d runs", report, err, len(world.ran))
		}
	}
	if due := Due(after, now.Add(24*time.Hour)); len(due) != 1 {
		t.Error("not due on the next day")
	}
}

// An apply that fails schedules nothing: only what is applied counts.
func TestApply_SchedulesNothingBeforeAllIsApplied(t *testing.T) {
	e, world := newEngine(t, one)
	world.fails = true
	manifest := nightly + strings.Replace(one, `"a"`, `"b"`, 1)
	if err := os.WriteFile(filepath.Join(e.Workspace.Dir, "main.hcl"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := e.Apply(t.Context(), app.ApplyOptions{Approval: approval.Options{Auto: true}})
	if err != nil || report.Status != apply.Error || len(recorded(t, e).Operations) > 0 {
		t.Errorf("%+v, %v, scheduled: %v", report, err, recorded(t, e).Operations)
	}
	world.fails = false
	applied(t, e)
	if len(recorded(t, e).Operations) != 1 {
		t.Error("not scheduled by the apply that did the rest")
	}
}

// While another command has the state nothing runs, and the turn is not lost.
func TestTurn_WaitsForTheState(t *testing.T) {
	e, world := newEngine(t, nightly)
	store, err := e.Workspace.OpenState(t.Context(), e.Workspace.StatePlaceAround(), "apply")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = schedulerOf(t, e).Turn(t.Context(), "nightly", later(t, e, 0))
	if !errors.Is(err, state.ErrLocked) || len(world.ran) > 0 {
		t.Errorf("%v, %d runs", err, len(world.ran))
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if report, _, err := schedulerOf(t, e).Turn(t.Context(), "nightly", later(t, e, 0)); err != nil || report.Status != apply.OK {
		t.Errorf("%+v, %v", report, err)
	}
}

// A run of unknown end is not repeated by the schedule: its turns are left out, each with an error, until a person says how it ended.
func TestTurn_NotAfterAnUnknownEnd(t *testing.T) {
	e, world := newEngine(t, nightly)
	died(t, e, "grow")
	for day := range 2 {
		report, _, err := schedulerOf(t, e).Turn(t.Context(), "nightly", later(t, e, day))
		if err != nil || report.Status != apply.Error || !strings.Contains(report.Problems.Error(), "The outcome of the last run is unknown") {
			t.Errorf("%+v, %v", report, err)
		}
	}
	if len(world.ran) > 0 {
		t.Fatalf("it ran %d times", len(world.ran))
	}
	if _, err := resolving.Resolve(t.Context(), e, moves.OperationKey("a", "grow"), actions.Done, false); err != nil {
		t.Fatal(err)
	}
	if report, _, err := schedulerOf(t, e).Turn(t.Context(), "nightly", later(t, e, 2)); err != nil || report.Status != apply.OK {
		t.Errorf("after resolve: %+v, %v", report, err)
	}
}

// What changes nothing runs without the lock, after its turn is recorded.
func TestTurn_WithoutALock(t *testing.T) {
	e, world := newEngine(t, strings.NewReplacer(`"grow"`, `"backup"`, "by = 2", `to = "x"`).Replace(nightly))
	report, rest, err := schedulerOf(t, e).Turn(t.Context(), "nightly", later(t, e, 0))
	if err != nil || report != nil || rest == nil || recorded(t, e).Operations["nightly"].Turn.IsZero() || len(world.ran) > 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	store, err := e.Workspace.OpenState(t.Context(), e.Workspace.StatePlaceAround(), "apply")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if report := rest(); report.Status != apply.OK || len(world.ran) != 1 {
		t.Errorf("%+v, %d runs", report, len(world.ran))
	}
}

// Two runs never overlap, also of what is not in the journal, by several watches and by two blocks: the next turn waits until
// the end of the run is recorded, or its limit has passed.
func TestTurn_NeverTwoAtATime(t *testing.T) {
	again := strings.TrimPrefix(strings.NewReplacer(`"nightly"`, `"again"`, `"grow"`, `"backup"`, "by = 2", `to = "x"`).Replace(nightly), one)
	e, world := newEngine(t, strings.NewReplacer(`"grow"`, `"backup"`, "by = 2", `to = "x"`).Replace(nightly)+again)
	at := func(days int) time.Time { return later(t, e, days) }
	begin := func(name string, now time.Time) func() *apply.Report {
		t.Helper()
		report, rest, err := schedulerOf(t, e).Turn(t.Context(), name, now)
		if err != nil || report != nil {
			t.Fatalf("%+v, %v", report, err)
		}
		return rest
	}
	rest := begin("nightly", at(0))
	if rest == nil {
		t.Fatal("it is not begun")
	}
	soon := at(1)
	for _, name := range []string{"nightly", "again"} { // of another watch, on the next day but before the limit
		if due := Due(recorded(t, e), soon); len(due) > 0 || begin(name, soon) != nil || begin(name, at(0)) != nil {
			t.Errorf("%s is begun beside it; due: %v", name, due)
		}
	}
	if err := os.WriteFile(filepath.Join(e.Workspace.Dir, "main.hcl"), // a schedule that was changed meanwhile
		[]byte(strings.NewReplacer(`"grow"`, `"backup"`, "by = 2", `to = "y"`).Replace(nightly)), 0o600); err != nil {
		t.Fatal(err)
	}
	applied(t, e)
	if begin("nightly", soon) != nil {
		t.Error("it is begun beside it after a change of its block")
	}
	if report := rest(); report.Status != apply.OK || len(world.ran) != 1 {
		t.Errorf("%+v, %d runs", report, len(world.ran))
	}
	if err := schedulerOf(t, e).Ended(t.Context(), "nightly"); err != nil {
		t.Fatal(err)
	}
	if begin("nightly", at(1)) == nil { // its watch dies then
		t.Error("it is not begun after the end")
	}
	unlock(t, e)
	if begin("nightly", at(2)) != nil {
		t.Error("it is begun before the limit of a run whose end nobody recorded")
	}
	if begin("nightly", at(2).Add(time.Hour)) == nil {
		t.Error("it is not begun after the limit")
	}
}

// The plan shows a block that is new, changed or gone; what stays keeps its turns.
func TestPlan_ShowsSchedules(t *testing.T) {
	e, _ := newEngine(t, nightly)
	if _, _, err := schedulerOf(t, e).Turn(t.Context(), "nightly", later(t, e, 0)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		manifest         string
		changed, removed bool
	}{{nightly, false, false}, {strings.Replace(nightly, "by = 2", "by = 3", 1), true, false},
		{strings.Replace(nightly, `"0 2 * * *"`, `"0 3 * * *"`, 1), true, false}, {one, false, true}} {
		if err := os.WriteFile(filepath.Join(e.Workspace.Dir, "main.hcl"), []byte(c.manifest), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := e.Plan(t.Context(), app.PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if o := p.Operations["nightly"]; o.Changed != c.changed || o.Removed != c.removed || p.HasChanges() != (c.changed || c.removed) {
			t.Errorf("%+v, %v", o, p.HasChanges())
		}
	}
	turn := recorded(t, e).Operations["nightly"].Turn
	if turn.IsZero() {
		t.Error("no turn is recorded")
	}
	applied(t, e) // without the block
	if len(recorded(t, e).Operations) != 0 {
		t.Error("it is still scheduled")
	}
}

// What is wrong in a block is an error with its place.
func TestManifest_RefusesSchedules(t *testing.T) {
	e, _ := newEngine(t, one)
	for change, want := range map[string]string{
		`"0 2 * * *"->"0 2 * *"`: "is not a schedule", `resource.a->resource.b`: "Undeclared resource", `resource.a->"a"`: "Not an address",
		`schedule->scedule`: "schedule", `run      = "grow"->run = ""`: "name of the operation is empty",
	} {
		from, to, _ := strings.Cut(change, "->")
		if err := os.WriteFile(filepath.Join(e.Workspace.Dir, "main.hcl"), []byte(strings.Replace(nightly, from, to, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Plan(t.Context(), app.PlanOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", change, err)
		}
	}
}

// A plan of a part, and one that only records, change no schedule.
func TestPlan_LeavesSchedules(t *testing.T) {
	e, _ := newEngine(t, nightly)
	if err := os.WriteFile(filepath.Join(e.Workspace.Dir, "main.hcl"), []byte(one), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range []plan.Selection{{Targets: []string{"a"}}, {RefreshOnly: true}} {
		report, err := e.Apply(t.Context(), app.ApplyOptions{Selection: s, Approval: approval.Options{Auto: true}})
		if err != nil || report.Status != apply.OK || len(recorded(t, e).Operations) != 1 {
			t.Errorf("%+v: %v, left %v", s, err, recorded(t, e).Operations)
		}
	}
}
