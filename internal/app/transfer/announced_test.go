package transfer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/plan"
	"deployster/plan/reason"
	"deployster/plan/subject"
	"deployster/state"
	"deployster/state/moves"
	"deployster/state/transfer"
)

// tell is an apply of a project that gives a resource to another one, whose state is in use.
func tell(t *testing.T, from, to *project, addr string) {
	t.Helper()
	w := from.open()
	store, err := w.OpenState(t.Context(), w.StatePlaceAround(), "test")
	if err != nil {
		t.Fatal(err)
	}
	there, err := state.Beside(w.Place(to.state), w.OtherKeys())
	if err != nil {
		t.Fatal(err)
	}
	err = transfer.Begin(transfer.End{Side: store, Name: w.StatePlaceAround().String()}, transfer.End{Side: there, Name: w.Place(to.state).String()},
		[]moves.Move{{From: addr, To: addr}}, time.Unix(2, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// An apply refuses a plan that was made before another project announced what it gives, also if that was while it planned. One that
// leaves it is carried out. What is announced is encrypted as the state is, and is read without the keys of the other project.
func TestGivePlanned_KnowsWhatComes(t *testing.T) {
	one, first := newKey(t)
	two, second := newKey(t)
	dir := t.TempDir()
	b := newProject(t, project{name: "b", state: filepath.Join(dir, "b.json"), recipient: second}, two)
	a := newProject(t, project{name: "a", state: filepath.Join(dir, "a.json"), recipient: first}, one, two)
	a.change(t, func(s *state.Snapshot) { s.Resources["gate"] = thing() })

	w := b.open()
	l, err := Open(t.Context(), w, w.StatePlaceAround(), w.StateOptions("apply"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { l.Close() }()
	before := &plan.Plan{Resources: map[string]*plan.Step{}}
	if err := l.GivePlanned(before); err != nil {
		t.Fatal(err)
	}
	tell(t, a, b, "gate")
	files := contents(t, filepath.Join(dir, "b.json.announced"))
	if len(files) != 1 {
		t.Fatalf("announced are %q", files)
	}
	if data, err := os.ReadFile(files[0]); err != nil || strings.Contains(string(data), "hunter2") || strings.Contains(string(data), "acme") {
		t.Errorf("it is in clear text: %s, %v", data, err)
	}
	if err := l.GivePlanned(before); err == nil || !strings.Contains(err.Error(), "still in "+a.state) {
		t.Errorf("announced while it planned: %v", err)
	}
	l.Close()

	if l, err = Open(t.Context(), w, w.StatePlaceAround(), w.StateOptions("apply"), nil); err != nil {
		t.Fatal(err)
	}
	e := l.Snapshot().Resources["gate"]
	if e.Transfer == nil || l.Left()["gate"] == nil {
		t.Fatalf("the apply sees %+v", l.Snapshot().Resources)
	}
	if err := l.GivePlanned(before); err == nil {
		t.Error("it makes what comes from another state")
	}
	leaves := map[string]*reason.Reason{"door": subject.Travelling(*e.Transfer)}
	if err := l.GivePlanned(&plan.Plan{Unreached: leaves}); err != nil {
		t.Error(err)
	}
	l.Close()

	// Who can lock both finishes it.
	w = a.open()
	if l, err = Open(t.Context(), w, w.StatePlaceAround(), w.StateOptions("apply"), nil); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if there := b.load(t).Resources["gate"]; there.Transfer != nil || string(there.Memory) != `"id 7"` {
		t.Errorf("then it has %+v", there)
	}
	if list, err := state.AnnouncedAt(state.File(b.state), nil); err != nil || len(list) > 0 {
		t.Errorf("announced are %+v, %v", list, err)
	}
}
