package apply_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/state"
)

// first writes a resource that is known by its id, with create_before_destroy where
// lifecycle says so.
func first(name, id, lifecycle, v string) string {
	return fmt.Sprintf("resource %q {\n  type = \"test/known:1\"\n  lifecycle {\n    %s\n  }\n  config = {\n    id = %q\n    v = %s\n  }\n}\n",
		name, lifecycle, id, v)
}

const createFirst = "create_before_destroy = true"

// TestCreateFirst_ReplacesBeforeItDestroys replaces things by others that are made before the old ones go.
func TestCreateFirst_ReplacesBeforeItDestroys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, then string
		done         string // what was done, in order
		things       string
		fails        string
		replace      string // -replace
	}{
		"one": {before: first("d", "d1", "", "1"), then: first("d", "d2", createFirst, "1"), done: "make d2 remove d1", things: "d2"},
		"its dependant is changed in between": {
			before: first("d", "d1", "", "1") + first("w", "w", "", "resource.d.state.id"),
			then:   first("d", "d2", createFirst, "1") + first("w", "w", "", "resource.d.state.id"),
			done:   "make d2 change w remove d1", things: "d2 w"},
		"passed on to what it depends on": {
			before: first("d", "d1", "", "1") + first("w", "w1", "", "resource.d.state.id"),
			then:   first("d", "d2", "", "1") + first("w", "w2", createFirst, "resource.d.state.id"),
			done:   "make d2 make w2 remove w1 remove d1", things: "d2 w2"},
		"without it": {before: first("d", "d1", "", "1"), then: first("d", "d2", "", "1"), done: "remove d1 make d2", things: "d2"},
		"the old one is to be forgotten": {before: first("d", "d1", `on_remove = "forget"`, "1"), then: first("d", "d2", createFirst, "1"),
			done: "make d2", things: "d1 d2"},
		"the old one is protected": {before: first("d", "d1", "prevent_destroy = true", "1"), then: first("d", "d2", createFirst, "1"),
			fails: "Protected resource would be removed", things: "d1"},
		"the new one is protected": {before: first("d", "d1", "", "1"), then: first("d", "d2", "prevent_destroy = true\n    "+createFirst, "1"),
			fails: "Protected resource would be replaced", things: "d1"},
		"it is the thing of another by now": {before: first("d", "d1", "", "1"), then: first("d", "d2", createFirst, "1") + first("e", "d1", "", "1"),
			done: "make d2", things: "d1 d2"},
		"another one looks at it": {before: first("d", "d1", "", "1"),
			then: first("d", "d2", createFirst, "1") + replaced(first("e", "d1", "", "1"), "  config", "  read_only = true\n  config"), done: "make d2", things: "d1 d2"},
		"there cannot be two of it": {before: first("d", "d1", createFirst, "1"), then: first("d", "d1", createFirst, "1"), replace: "d",
			fails: "The new object cannot be created first", things: "d1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			e.opts.Parallelism = 1
			e.fake.Add("test/known:1", e.known)
			e.do(t, c.before)
			e.world.TakeLog()
			if c.replace != "" {
				e.only = plan.Selection{Replace: []string{c.replace}}
			}
			p, err := e.plan(c.then)
			if err == nil && c.fails == "" {
				report, failed := e.apply(t.Context(), p)
				if err = failed; len(report.Problems) > 0 {
					t.Errorf("problems: %v", summaries(report.Problems))
				}
			}
			if got := fmt.Sprint(err); (err != nil) != (c.fails != "") || !strings.Contains(got, c.fails) {
				t.Fatalf("error %q, want %q", got, c.fails)
			}
			if got := strings.Join(e.world.TakeLog(), " "); got != c.done {
				t.Errorf("done %q, want %q", got, c.done)
			}
			if got := strings.Join(slices.Sorted(maps.Keys(e.world.Things())), " "); got != c.things {
				t.Errorf("things %q, want %q", got, c.things)
			}
			if c.fails != "" {
				return
			}
			if rest, err := e.plan(c.then); err != nil || rest.HasChanges() {
				t.Errorf("something is left to do: %+v, %v", rest, err)
			}
		})
	}
}

// TestCreateFirst_NewOneIsThere: nothing is taken over in place of the old thing, and
// nothing is destroyed.
func TestCreateFirst_NewOneIsThere(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.fake.Add("test/known:1", e.known)
	e.do(t, first("d", "d1", "", "1"))
	p, err := e.plan(first("d", "d2", createFirst, "1"))
	if err != nil {
		t.Fatal(err)
	}
	e.world.Set("d2", `{"id":"d2","v":7}`)
	if _, err := e.plan(first("d", "d2", createFirst, "1")); err == nil || !strings.Contains(err.Error(), "cannot be created first") {
		t.Errorf("planned: %v", err)
	}
	report, err := e.apply(t.Context(), p)
	if err != nil || report.Resources["d"].Status != apply.Error || report.Resources["d (deposed 1)"].Status != apply.NotStarted {
		t.Errorf("%v %s", err, encode(report))
	}
	if got := e.world.Things(); got["d1"] == "" || got["d2"] != `{"id":"d2","v":7}` {
		t.Errorf("things %v", got)
	}
}

// TestCreateFirst_FailsHalfway: the old thing stays recorded until it is gone, and the
// next plan ends it, or takes it back.
func TestCreateFirst_FailsHalfway(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fails, then, done, things string }{
		"the new one is not made":        {"d2", "d2", "make d2 remove d1", "d2"},
		"the old one does not go":        {"d1", "d2", "remove d1", "d2"},
		"the old one is wanted again":    {"d2", "d1", "", "d1"},
		"another one is wanted":          {"d2", "d3", "make d3 remove d1", "d3"},
		"another one, and the old stays": {"d1", "d3", "make d3 remove d1 remove d2", "d3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			e.opts.Parallelism = 1
			e.fake.Add("test/known:1", e.known)
			e.do(t, first("d", "d1", "", "1"))
			e.world.Fail(c.fails, true)
			if report := e.do(t, first("d", "d2", createFirst, "1")); report.Status != apply.Error {
				t.Errorf("the apply ended %s", report.Status)
			}
			s, _, err := state.Load(state.File(e.statePath()))
			if err != nil || string(s.Resources["d (deposed 1)"].Config) != `{"id":"d1","v":1}` {
				t.Fatalf("%v, recorded %v", err, slices.Sorted(maps.Keys(s.Resources)))
			}
			e.world.Fail(c.fails, false)
			e.world.TakeLog()
			e.do(t, first("d", c.then, createFirst, "1"))
			if got := strings.Join(e.world.TakeLog(), " "); got != c.done {
				t.Errorf("done %q, want %q", got, c.done)
			}
			if got := strings.Join(slices.Sorted(maps.Keys(e.world.Things())), " "); got != c.things {
				t.Errorf("things %q, want %q", got, c.things)
			}
			if s, _, err = state.Load(state.File(e.statePath())); err != nil || len(s.Resources) != 1 {
				t.Errorf("%v, recorded %v", err, slices.Sorted(maps.Keys(s.Resources)))
			}
		})
	}
}

// TestCreateFirst_IsResumed: the same plan goes on where its process died, after any
// fact, and so does a new one.
func TestCreateFirst_IsResumed(t *testing.T) {
	t.Parallel()
	before := first("d", "d1", "", "1") + first("w", "w1", "", "resource.d.state.id")
	then := first("d", "d2", "", "1") + first("w", "w2", createFirst, "resource.d.state.id")
	for _, anew := range []bool{false, true} {
		for facts := 1; ; facts++ {
			e := newEngine(t.TempDir())
			e.opts.Parallelism = 1
			e.fake.Add("test/known:1", e.known)
			e.do(t, before)
			e.world.TakeLog()
			p, err := e.plan(then)
			if err != nil {
				t.Fatal(err)
			}
			kept := map[string][]byte{}
			e.wrap = func(j apply.Journal) apply.Journal {
				return &dying{Journal: j, left: facts, keep: func() { e.keep(t, kept) }}
			}
			report, _ := e.apply(t.Context(), p)
			if report.Status == apply.OK {
				if facts < 12 {
					t.Errorf("only %d facts", facts)
				}
				break
			}
			for name, data := range kept {
				if err := os.WriteFile(filepath.Clean(name), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if e.wrap = nil; anew {
				p = nil
			}
			if p == nil {
				if err := e.fold(t); err != nil {
					t.Fatal(err)
				}
				if p, err = e.plan(then); err != nil {
					t.Fatalf("after %d facts: %v", facts, err)
				}
			}
			if report, err = e.apply(t.Context(), p); err != nil || report.Status != apply.OK {
				t.Errorf("anew %t, after %d facts: %v %v", anew, facts, err, summaries(report.Problems))
			}
			if got := strings.Join(slices.Sorted(maps.Keys(e.world.Things())), " "); got != "d2 w2" {
				t.Errorf("anew %t, after %d facts: things %s", anew, facts, got)
			}
			log := e.world.TakeLog()
			if slices.Index(log, "remove w1") < slices.Index(log, "make w2") || slices.Index(log, "remove d1") < slices.Index(log, "remove w1") {
				t.Errorf("anew %t, after %d facts: %v", anew, facts, log)
			}
			if rest, err := e.plan(then); err != nil || rest.HasChanges() {
				t.Errorf("anew %t, after %d facts: something is left to do: %v", anew, facts, err)
			}
		}
	}
}

// keep copies the files of the state.
func (e *engine) keep(t *testing.T, into map[string][]byte) {
	for _, name := range []string{e.statePath(), e.statePath() + ".journal"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		}
		into[name] = data
	}
}

// fold brings a journal that was left behind into the state.
func (e *engine) fold(t *testing.T) error {
	store, err := state.Open(t.Context(), state.File(e.statePath()), state.Options{Command: "test"})
	if err != nil {
		return err
	}
	return store.Close()
}
