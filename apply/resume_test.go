package apply_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/runner"
	"deployster/internal/ui/paint"
	"deployster/internal/ui/render"
	"deployster/plan"
)

// dieAfter applies a plan in a process that dies once it has recorded so many
// facts: what is on the disk then is what it leaves.
func (e *engine) dieAfter(t *testing.T, facts int, p *plan.Plan) {
	t.Helper()
	if !e.dies(t, facts, p) {
		t.Fatalf("the apply ended before %d facts", facts)
	}
}

// dies applies a plan as dieAfter does. It reports whether the apply recorded as many facts.
func (e *engine) dies(t *testing.T, facts int, p *plan.Plan) bool {
	t.Helper()
	kept := map[string][]byte{}
	e.opts.Parallelism = 1
	e.wrap = func(j apply.Journal) apply.Journal {
		return &dying{Journal: j, left: facts, keep: func() {
			e.dead.Store(true)
			for _, name := range []string{e.statePath(), e.statePath() + ".journal"} {
				if data, err := os.ReadFile(name); err == nil {
					kept[name] = data
				}
			}
		}}
	}
	_, _ = e.apply(t.Context(), p)
	e.dead.Store(false)
	if e.wrap = nil; len(kept) == 0 {
		return false
	}
	for name, data := range kept {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return true
}

var pair = thing("a", "v", "1") + thing("b", "v", "1", "on", "resource.a.state.v")

// ofPair is a plan of two resources, made anew in an empty world.
func ofPair(t *testing.T) (*engine, *plan.Plan) {
	t.Helper()
	e := newEngine(t.TempDir())
	p, err := e.plan(pair)
	if err != nil {
		t.Fatal(err)
	}
	return e, p
}

// What a run that died had recorded is not done again, and is named.
func TestResume_DoesNotRepeatWhatWasCompleted(t *testing.T) {
	e, p := ofPair(t)
	e.dieAfter(t, 3, p) // a: started, ended, VALID
	if done, resumed := apply.Resumed(p, e.recorded(t)); !resumed || !slices.Equal(done, []string{"a"}) {
		t.Errorf("resumed %v, done %q", resumed, done)
	}
	report, err := e.apply(t.Context(), p)
	if err != nil || report.Status != apply.OK {
		t.Fatalf("%s, %v", encode(report), err)
	}
	if log := e.world.TakeLog(); !slices.Equal(log, []string{"make a", "make b"}) {
		t.Errorf("done: %q", log)
	}
}

// What was done, and is not so any more, is not done a second time in silence.
func TestResume_CompletedAndChangedIsStale(t *testing.T) {
	e, p := ofPair(t)
	e.dieAfter(t, 3, p)
	e.world.Set("a", `{"v":7}`)
	e.world.TakeLog()
	report, err := e.apply(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(encode(report), "it was done by the run that died, and was changed since") {
		t.Errorf("not refused: %s", encode(report))
	}
	if log := e.world.TakeLog(); len(log) > 0 {
		t.Errorf("done all the same: %q", log)
	}
}

// A run that ended by itself is not gone on with.
func TestResume_NotOfARunThatEnded(t *testing.T) {
	e, p := ofPair(t)
	if report, err := e.apply(t.Context(), p); err != nil || report.Status != apply.OK {
		t.Fatalf("%s, %v", encode(report), err)
	}
	if _, resumed := apply.Resumed(p, e.recorded(t)); resumed {
		t.Error("resumed")
	}
	if _, err := e.apply(t.Context(), p); err == nil || !strings.Contains(err.Error(), "plan is stale: it was already applied") {
		t.Errorf("not refused: %v", err)
	}
}

// twoSteps is a type whose thing is made in two steps; `spoiled` makes it need
// another one after the first.
func twoSteps(e *engine, spoiled *bool) func() []string {
	var log []string
	steps := map[string][]string{"": {"lay", "raise"}, "laid": {"raise"}, "spoiled": {"clear", "raise"}}
	how := ""
	e.fake.Add("test/steps:1", func(_ context.Context, s runner.Spec, _ io.Reader, stdout, _ io.Writer) int {
		if *spoiled && how == "laid" {
			how = "spoiled"
		}
		switch {
		case len(s.Args) == 0:
			_, _ = io.WriteString(stdout, `{"protocol":2,"state_action":{"args":["state"]}}`)
		case s.Args[0] != "state":
			log = append(log, s.Args[0])
			how = map[string]string{"lay": "laid", "raise": "raised", "clear": "laid"}[s.Args[0]]
		case how == "raised":
			_, _ = io.WriteString(stdout, `{"status":"VALID","state":{}}`)
		default:
			var actions []string
			for _, name := range steps[how] {
				actions = append(actions, fmt.Sprintf(`{"name":%q,"args":[%q]}`, name, name))
			}
			_, _ = fmt.Fprintf(stdout, `{"status":"STALE","actions":[%s]}`, strings.Join(actions, ","))
		}
		return 0
	})
	return func() []string { return log }
}

// What is half-way is gone on with when its image wants just the rest of what
// was shown, and refused when it wants anything else.
func TestHalfWay_ResumesOnlyTheRemainingActions(t *testing.T) {
	for _, spoils := range []bool{false, true} {
		e, spoiled := newEngine(t.TempDir()), false
		log := twoSteps(e, &spoiled)
		p, err := e.plan("resource \"a\" {\n  type = \"test/steps:1\"\n  config = {}\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		e.dieAfter(t, 2, p) // lay: started, ended
		spoiled = spoils
		report, err := e.apply(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"lay", "raise"}
		if spoils {
			want = want[:1]
			if !strings.Contains(encode(report), "plan is stale") {
				t.Errorf("not refused: %s", encode(report))
			}
		} else if report.Status != apply.OK {
			t.Errorf("%s", encode(report))
		}
		if !slices.Equal(log(), want) {
			t.Errorf("spoiled %v: done %q, want %q", spoils, log(), want)
		}
	}
}

// What an apply had created when it was killed is created, and not adopted: by the same plan
// and by a new one.
func TestResume_CreatedIsNotAdopted(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"the same plan": true, "a new plan": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, p := ofPair(t)
			e.dieAfter(t, 2, p) // a: started, ended
			if !again {
				var err error
				if p, err = e.plan(pair); err != nil {
					t.Fatal(err)
				}
				if a := p.Resources["a"]; !a.Made() || p.Summary.Made != 1 || !p.HasChanges() {
					t.Errorf("planned: %s", encode(a))
				}
			}
			report, err := e.apply(t.Context(), p)
			if err != nil || report.Status != apply.OK {
				t.Fatalf("%s, %v", encode(report), err)
			}
			if text := paint.Colors(render.Report(p, report, nil, render.Options{}), false); !strings.Contains(text, "Resources: 2 created.") {
				t.Errorf("printed: %s", text)
			}
		})
	}
	// What deployster did not create is adopted, as before.
	e := newEngine(t.TempDir())
	e.world.Set("a", `{"v":1}`)
	p, err := e.plan(thing("a", "v", "1"))
	if err != nil || p.Resources["a"].Made() || !p.Resources["a"].Adopted() {
		t.Errorf("%s, %v", encode(p.Resources["a"]), err)
	}
}
