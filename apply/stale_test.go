package apply_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"deployster/apply"
	"deployster/apply/fresh"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/begins"
	"deployster/state"
)

// A config takes a value from a state that changes after the plan was made, while
// its image calls it VALID all along: what the plan showed is not run, be the config
// another one now or none at all.
func TestRun_ConfigFromAChangedStateIsStale(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ v, want string }{
		"another config":         {"resource.clock.state.at", "its config is not what the plan showed"},
		"it cannot be evaluated": {"10 / (2 - resource.clock.state.at)", "ivi"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			var stamp atomic.Int64
			e.fake.Add("test/stamp:1", func(_ context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
				_, _ = io.Copy(io.Discard, stdin)
				answer := `{"protocol":2,"state_action":{"args":["state"]}}`
				if len(s.Args) > 0 {
					answer = fmt.Sprintf(`{"status":"VALID","state":{"at":%d}}`, stamp.Load())
				}
				_, _ = io.WriteString(stdout, answer)
				return 0
			})
			source := strings.Replace(thing("clock"), "thing", "stamp", 1) + thing("a", "v", c.v)
			e.do(t, source)
			e.world.TakeLog()
			p, err := e.plan(strings.Replace(source, "v =", "w = 1\n    v =", 1))
			if err != nil || p.Resources["a"].Change() != plan.Update || p.Resources["a"].Flexible() {
				t.Fatalf("%+v, %v", p, err)
			}
			stamp.Store(2)
			report, err := e.apply(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if a := report.Resources["a"]; a.Status != apply.Error || !strings.Contains(a.Reason, c.want) {
				t.Errorf("%+v", a)
			}
			if done := e.world.TakeLog(); len(done) > 0 {
				t.Errorf("and yet it did %q", done)
			}
		})
	}
}

// A plan fits the state that it was made from, and no other: not one that says the
// same of every resource.
func TestCheck_PlanOfAnotherState(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.do(t, thing("a", "v", "1"))
	p, err := e.plan(thing("a", "v", "2"))
	if err != nil {
		t.Fatal(err)
	}
	now, _, err := state.Load(state.File(e.statePath()))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, lineage, want string }{
		{"its own", now.Lineage, "<nil>"},
		{"another", "other", "it was made for another state file"},
		{"none", "", "the state file it was made from is gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := now
			s.Lineage = c.lineage
			if got := fmt.Sprint(fresh.Check(p, s)); !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// A plan that was made where no state was fits no state in which something was
// recorded, also where that knows nothing of its resources.
func TestCheck_PlanOfAStateThatWasNotThere(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	p, err := e.plan(thing("a", "v", "1"))
	if err != nil || p.Lineage != "" {
		t.Fatalf("lineage %q, %v", p.Lineage, err)
	}
	for _, c := range []struct {
		name string
		now  state.Snapshot
		want string
	}{
		{"there is none yet", state.Snapshot{}, "<nil>"},
		{"it has only begun", state.Snapshot{Lineage: "one"}, "<nil>"},
		{"it began with this plan, long ago", state.Snapshot{Lineage: begins.Lineage(p.ID), Serial: 200}, "it was already applied"},
		{"it began with this plan, and nothing was recorded", state.Snapshot{Lineage: begins.Lineage(p.ID)}, "<nil>"},
		{"something was recorded", state.Snapshot{Lineage: "one", Serial: 1}, "there was no state when it was made, and there is one now"},
		{"this plan died in it", state.Snapshot{Lineage: "one", Serial: 1,
			Applied: []state.Applied{{Plan: p.ID, Status: state.StatusDied}}}, "<nil>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := fmt.Sprint(fresh.Check(p, c.now)); !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// A plan that names the place of its state begins no other one. A run of it that was killed has begun the right one.
func TestCheck_PlanOfAnotherPlace(t *testing.T) {
	t.Parallel()
	here := begins.State{Machine: "m", Path: "/w/deployster.state.json"}
	died := state.Snapshot{Lineage: "l", Serial: 1, Applied: []state.Applied{{Plan: "p", Status: state.StatusDied}}}
	for _, c := range []struct {
		name   string
		begins *begins.State
		now    state.Snapshot
		fits   bool
	}{
		{"it names none", nil, state.Snapshot{}, true},
		{"here", &here, state.Snapshot{}, true},
		{"any", &begins.State{Any: true}, state.Snapshot{}, true},
		{"another machine", &begins.State{Machine: "n", Path: here.Path}, state.Snapshot{}, false},
		{"another file", &begins.State{Machine: here.Machine, Path: "/w/other.json"}, state.Snapshot{}, false},
		{"a shared state", &begins.State{URL: "s3://bucket/a"}, state.Snapshot{}, false},
		{"nothing is named", &begins.State{}, state.Snapshot{}, false},
		{"it died here", &begins.State{URL: "s3://bucket/a"}, died, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := fresh.Place(&plan.Plan{ID: "p", Begins: c.begins}, c.now, here)
			if (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), "it begins the state of another place") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// What is read_only and may change is only looked at: that it is not as declared
// at its turn is an error, and nothing is done about it.
func TestRun_ReadOnlyIsLeftAlone(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	source := func(v string) string {
		return thing("a", "v", v) + strings.Replace(thing("b", "v", "resource.a.state.v"), "{", "{\n  read_only = true", 1)
	}
	e.world.Set("b", `{"v":1}`)
	e.do(t, source("1"))
	p, err := e.plan(source("2"))
	if err != nil {
		t.Fatal(err)
	}
	e.world.TakeLog()
	report, err := e.apply(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if b := report.Resources["b"]; b.Status != apply.Error || !strings.Contains(b.Reason, "It is read_only and was not changed") {
		t.Errorf("%+v", b)
	}
	if done := e.world.TakeLog(); len(done) != 1 || done[0] != "change a" {
		t.Errorf("it did %q", done)
	}
}
