package apply_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/state"
	"deployster/state/moves"
)

// dying is the journal of a process that dies once it has recorded so many
// facts: what is on the disk then is kept, and nothing is done after it.
type dying struct {
	apply.Journal
	mu   sync.Mutex
	left int
	keep func()
}

func (d *dying) fact(record func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left == 0 {
		return errors.New("dead")
	}
	err := record()
	if d.left--; d.left == 0 {
		d.keep()
	}
	return err
}

func (d *dying) ActionStarted(s state.Start) error {
	return d.fact(func() error { return d.Journal.ActionStarted(s) })
}

func (d *dying) ActionEnded(addr, action string, e state.End) error {
	return d.fact(func() error { return d.Journal.ActionEnded(addr, action, e) })
}

func (d *dying) Valid(addr string, e state.Entry) error {
	return d.fact(func() error { return d.Journal.Valid(addr, e) })
}

func (d *dying) Failed(addr string) error {
	return d.fact(func() error { return d.Journal.Failed(addr) })
}

func (d *dying) Moved(moves []moves.Move) error {
	return d.fact(func() error { return d.Journal.Moved(moves) })
}

func (d *dying) Removed(addr string) error {
	return d.fact(func() error { return d.Journal.Removed(addr) })
}

// A replacement whose process dies after any fact is gone on with by the same
// plan: nothing is destroyed or made twice.
func TestReplace_IsResumed(t *testing.T) {
	source := thing("a", "v", "1") + thing("b", "v", "1", "on", "resource.a.state.v")
	want := []string{"remove b", "remove a", "make a", "make b"}
	for facts := 1; ; facts++ {
		e := newEngine(t.TempDir())
		e.opts.Parallelism = 1
		e.do(t, source)
		e.world.TakeLog()
		_, p := e.selected(source, plan.Selection{Replace: []string{"a", "b"}})
		kept := map[string][]byte{}
		e.wrap = func(j apply.Journal) apply.Journal {
			return &dying{Journal: j, left: facts, keep: func() { e.keep(t, kept) }}
		}
		report, _ := e.apply(t.Context(), p)
		if report.Status == apply.OK {
			if facts < 8 {
				t.Errorf("only %d facts", facts)
			}
			return
		}
		for name, data := range kept {
			if err := os.WriteFile(filepath.Clean(name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		e.wrap = nil
		report, err := e.apply(t.Context(), p)
		if err != nil || report.Status != apply.OK {
			t.Errorf("dead after %d facts, resumed: %v, %v", facts, encode(report), err)
		}
		if done := e.world.TakeLog(); !slices.Equal(done, want) {
			t.Errorf("dead after %d facts: done %q, want %q", facts, done, want)
		}
		if got, p := e.selected(source, plan.Selection{}); p == nil || p.HasChanges() {
			t.Errorf("dead after %d facts, there is still to do: %s", facts, got)
		}
	}
}

// remaking is a journal beside which somebody makes again what was destroyed.
type remaking struct {
	apply.Journal
	again func()
}

func (r remaking) Removed(addr string) error {
	defer r.again()
	return r.Journal.Removed(addr)
}

// What somebody else has made again by the time of its turn, just as it was
// recorded, is recorded again: its entry went with the old one.
func TestReplace_RecordsAnObjectThatSomebodyElseCreated(t *testing.T) {
	e := newEngine(t.TempDir())
	source := thing("a", "v", "1")
	e.do(t, source)
	_, p := e.selected(source, plan.Selection{Replace: []string{"a"}})
	e.wrap = func(j apply.Journal) apply.Journal {
		return remaking{j, func() { e.world.Set("a", `{"v":1}`) }}
	}
	report, err := e.apply(t.Context(), p)
	if err != nil || report.Status != apply.OK {
		t.Fatalf("%s, %v", encode(report), err)
	}
	if _, known := e.recorded(t).Resources["a"]; !known {
		t.Error("it is there, and not recorded")
	}
}
