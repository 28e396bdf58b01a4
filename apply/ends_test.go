package apply_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/runner"
	"deployster/plan"
)

// endings is an engine with the types test/known:1, which says what identifies its
// things, and test/older:1, which does not.
func endings(t *testing.T) *engine {
	e := newEngine(t.TempDir())
	e.fake.Add("test/known:1", e.known)
	e.fake.Add("test/older:1", e.older)
	return e
}

// one writes a resource of one of these types.
func one(ty, name, id, v string) string {
	return fmt.Sprintf("resource %q {\n  type = \"test/%s:1\"\n  config = {\n    id = %s\n    v = %s\n  }\n}\n", name, ty, id, v)
}

func (e *engine) there() string {
	return strings.Join(slices.Sorted(maps.Keys(e.world.Things())), " ")
}

func (e *engine) done() string { return strings.Join(e.world.TakeLog(), ", ") }

// What is destroyed of a kind is destroyed before anything of that kind is asked
// for, adopted or made. What the plan says of a resource is true after that.
func TestEnds_ComeBeforeBeginnings(t *testing.T) {
	t.Parallel()
	older := func(name, id, v string) string { return one("older", name, `"`+id+`"`, v) }
	known := func(name, id, v string) string { return one("known", name, `"`+id+`"`, v) }
	for name, c := range map[string]struct {
		first, then, planned, done, things string
	}{
		"renamed and changed, of an older type": {older("a", "x", "1"), older("b", "x", "2"), "a:destroy b:deferred", "remove x, make x", "x"},
		"a list that is shifted and changed, of an older type": {older("s1", "x", "1") + older("s2", "y", "1"), older("s1", "y", "2"),
			"s1:update s2:destroy", "remove y, make y", "x y"}, // nobody can tell that x is meant no more: the plan says so
		"renamed and changed":        {known("a", "x", "1"), known("b", "x", "2"), "b:update", "change x", "x"},
		"one goes and another comes": {known("b", "x", "1"), known("a", "y", "1"), "a:create b:destroy", "remove x, make y", "y"},
		"two kinds":                  {older("b", "x", "1"), known("a", "y", "1"), "a:create b:destroy", "", "y"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := endings(t)
			e.do(t, c.first)
			e.world.TakeLog()
			p, err := e.plan(c.then)
			if err != nil {
				t.Fatal(err)
			}
			if got, _, _ := strings.Cut(changes(p), " |"); got != c.planned {
				t.Errorf("planned %s, want %s", got, c.planned)
			}
			report, err := e.apply(t.Context(), p)
			if err != nil || report.Status != apply.OK {
				t.Errorf("%s %v %v", report.Status, err, summaries(report.Problems))
			}
			if done := e.done(); c.done != "" && done != c.done {
				t.Errorf("done %q, want %q", done, c.done)
			}
			if got := e.there(); got != c.things {
				t.Errorf("things %q, want %q", got, c.things)
			}
			if rest, err := e.plan(c.then); err != nil || rest.HasChanges() {
				t.Errorf("something is left to do: %+v, %v", rest, err)
			}
		})
	}
}

// Where a removal takes a resource with it that was right, that is an error of the
// removal, also where the plan leaves the resource out; the next plan makes it.
func TestRemoval_TakesAnotherWithIt(t *testing.T) {
	t.Parallel()
	both := one("older", "a", `"x"`, "1") + one("older", "b", `"x"`, "1")
	rest := one("older", "b", `"x"`, "1")
	for name, only := range map[string]plan.Selection{
		"planned": {}, "left out": {Targets: []string{"a"}}, "not refreshed": {NoRefresh: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := endings(t)
			e.do(t, both)
			_, p := e.selected(rest, only)
			report, err := e.apply(t.Context(), p)
			if err != nil || report.Status != apply.Error {
				t.Fatalf("%s %v", report.Status, err)
			}
			if got := strings.Join(summaries(report.Problems), "; "); got != "a: Its removal took resource.b with it" {
				t.Error(got)
			}
			if a := report.Resources["a"]; a.Status != apply.Error || a.Failed != "removal" || a.Reason != "its removal took resource.b with it" {
				t.Errorf("a: %+v", a)
			}
			if b := report.Resources["b"]; b != nil && b.Status != apply.Error {
				t.Errorf("b: %+v", b)
			}
			if e.recorded(t).Resources["b"].LastSeen == nil {
				t.Error("b is recorded as if it were right")
			}
			e.only = plan.Selection{NoRefresh: true}
			e.do(t, rest)
			if got := e.there(); got != "x" {
				t.Errorf("things %q", got)
			}
		})
	}
}

// What identifies a resource is known only in apply: the end of what turns out to be
// its object waits for it, and neither is begun.
func TestLateIdentity_DestroyAndCreateOfOneObjectAreRefused(t *testing.T) {
	t.Parallel()
	from := one("known", "late", "resource.p.state.v", "1")
	for name, c := range map[string]struct {
		first, then, problems, done, things string
	}{
		"of what the plan ends": {one("known", "e", `"x"`, "1"), thing("p", "v", `"x"`) + from,
			"e: plan is stale: it would be the object of resource.late; late: plan is stale: it would be the object of resource.e", "make p", "p x"},
		"of another resource": {"", thing("p", "v", `"x"`) + from + one("known", "o", `"x"`, "1"),
			"late: plan is stale: it would be the object of resource.o", "", "p x"},
		"of another one that is late": {"", thing("p", "v", `"x"`) + from + one("known", "later", "resource.p.state.v", "1"), "stale", "", ""},
		"of nobody":                   {one("known", "e", `"y"`, "1"), thing("p", "v", `"x"`) + from, "", "make p, remove y, make x", "p x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := endings(t)
			e.opts.KeepGoing = true
			e.do(t, c.first+thing("other"))
			e.world.TakeLog()
			report := e.do(t, c.then+thing("other"))
			got := strings.Join(summaries(report.Problems), "; ")
			if c.problems == "stale" {
				if !strings.Contains(got, "plan is stale: it would be the object of resource.late") {
					t.Error(got)
				}
				return
			}
			if got != c.problems {
				t.Errorf("problems %q, want %q", got, c.problems)
			}
			if done := e.done(); c.done != "" && done != c.done {
				t.Errorf("done %q, want %q", done, c.done)
			}
			if got := e.there(); got != "other "+c.things {
				t.Errorf("things %q, want %q", got, c.things)
			}
			if c.first == "" {
				return
			}
			again := e.do(t, c.then+thing("other")) // now the identity is known
			if again.Status != apply.OK || e.there() != "other p x" {
				t.Errorf("%s %v, things %q", again.Status, summaries(again.Problems), e.there())
			}
		})
	}
}

// What was managed at an address is only looked at from now on, and what identifies it is
// known only in apply: it may be what stood there. So that is not destroyed before it is
// known, in whichever order replacements at that address come.
func TestLateIdentity_OfWhatIsOnlyRead(t *testing.T) {
	t.Parallel()
	for _, lifecycle := range []string{"", createFirst} {
		e := endings(t)
		e.do(t, first("late", "x", lifecycle, "1")+thing("other"))
		then := thing("p", "v", `"x"`) + thing("other") + fmt.Sprintf("resource \"late\" {\n  type = \"test/known:1\"\n  read_only = true\n"+
			"  lifecycle {\n    %s\n  }\n  config = {\n    id = resource.p.state.v\n    v = 1\n  }\n}\n", lifecycle)
		report := e.do(t, then)
		if got := strings.Join(summaries(report.Problems), "; "); !strings.Contains(got, "plan is stale: it would be the object of "+
			"resource.late") {
			t.Errorf("%q: problems %q", lifecycle, got)
		}
		again := e.do(t, then) // now the identity is known
		if again.Status != apply.OK || e.there() != "other p x" {
			t.Errorf("%q: %s %v, things %q", lifecycle, again.Status, summaries(again.Problems), e.there())
		}
	}
}

// A resource turns out to mean another thing than the recorded one: the next plan
// replaces that, so that nothing is left that nobody knows of.
func TestLateIdentity_OfAnotherObject(t *testing.T) {
	t.Parallel()
	e := endings(t)
	source := func(id string) string {
		return thing("p", "v", `"`+id+`"`) + one("known", "late", "resource.p.state.v", "1")
	}
	e.do(t, source("x"))
	report := e.do(t, source("y"))
	if got := strings.Join(summaries(report.Problems), "; "); got != "late: Not done yet: it would be another object than the "+
		"recorded one" {
		t.Error(got)
	}
	late := report.Resources["late"]
	if report.Status != apply.Incomplete || late.Status != apply.NotStarted || late.Reason == "" || len(late.Completed) > 0 {
		t.Errorf("the apply is %s, and the resource %s: %s", report.Status, late.Status, late.Reason)
	}
	if report := e.do(t, source("y")); report.Status != apply.OK || e.there() != "p y" {
		t.Errorf("%v, things %q", summaries(report.Problems), e.there())
	}
}

// An end that would have to wait for an identity that itself waits for the end is left
// for the next plan, which the plan says.
func TestEnds_CannotWait(t *testing.T) {
	t.Parallel()
	// The old thing of a goes before the new one is made, of whose state b is made.
	first := one("known", "a", `"a1"`, `"b1"`)
	then := one("known", "a", `"a2"`, `"b1"`) + one("known", "b", "resource.a.state.v", "1")
	e := endings(t)
	e.do(t, first)
	e.world.TakeLog()
	p, err := e.plan(then)
	if err != nil {
		t.Fatal(err)
	}
	if got := changes(p); got != "a:deferred a (deposed 1):left b:deferred" {
		t.Errorf("planned %s", got)
	}
	report, err := e.apply(t.Context(), p)
	if err != nil || report.Status != apply.OK {
		t.Fatalf("%v %v", err, summaries(report.Problems))
	}
	if got := e.there(); got != "a1 a2 b1" {
		t.Errorf("things %q", got)
	}
	e.do(t, then)
	if got := e.there(); got != "a2 b1" {
		t.Errorf("after the next plan: %q", got)
	}
}

// What -replace names is one thing before and after: where its end cannot wait, there is
// nothing that could be left for the next plan.
func TestEnds_CannotWaitForWhatIsToBeReplaced(t *testing.T) {
	t.Parallel()
	e := endings(t)
	e.do(t, one("known", "a", `"a1"`, `"b1"`))
	e.world.TakeLog()
	then := one("known", "a", `"a1"`, `"b1"`) + one("known", "b", "resource.a.state.v", "1")
	if got, _ := e.selected(then, plan.Selection{Replace: []string{"a"}}); !strings.Contains(got, "Resource cannot be replaced now") {
		t.Errorf("planned %s", got)
	}
	if done := e.done(); done != "" {
		t.Errorf("done %q", done)
	}
}

// What has to wait for an end that is left for the next plan is left too.
func TestEnds_LeftKeepWhatTheyDependOn(t *testing.T) {
	t.Parallel()
	e := endings(t)
	e.do(t, thing("f", "v", "1")+one("known", "e", `"e"`, "resource.f.state.v"))
	e.world.TakeLog()
	got, p := e.selected(thing("p", "v", `"x"`)+one("known", "late", "resource.p.state.v", "1"), plan.Selection{Targets: []string{"f"}})
	if got != "e:left f:left | late p" {
		t.Fatalf("planned %s", got)
	}
	report, err := e.apply(t.Context(), p)
	if done := e.done(); err != nil || report.Status != apply.OK || done != "" {
		t.Errorf("%v %v, done %q", err, summaries(report.Problems), done)
	}
}

// Where dependencies say the opposite, a resource begins before an end of its kind, and
// is asked again after it.
func TestBeginnings_CannotWait(t *testing.T) {
	t.Parallel()
	e := endings(t)
	e.do(t, one("older", "e", `"x"`, "1")+one("older", "stays", `"x"`, "1")+thing("user", "v", "resource.e.state.v"))
	report := e.do(t, one("older", "stays", `"x"`, "1")+thing("user", "v", "resource.stays.state.v", "w", "2"))
	if got := strings.Join(summaries(report.Problems), "; "); got != "e: Its removal took resource.stays with it" || report.Resources["user"].Status != apply.OK {
		t.Errorf("%q, user %+v", got, report.Resources["user"])
	}
}

// Who lets go of what is replaced does so before that, unless it waits for it in
// another way.
func TestEnds_WaitForWhatIsReplaced(t *testing.T) {
	t.Parallel()
	e := endings(t)
	chain := func(v, on string) string {
		return one("known", "y", `"y`+v+`"`, "1") + one("known", "x", `"x`+v+`"`, "resource.y.state.v") + thing("d", "v", "resource."+on+".state.v", "n", v)
	}
	e.do(t, chain("1", "x"))
	report := e.do(t, chain("2", "y"))
	if got := e.there(); report.Status != apply.OK || got != "d x2 y2" {
		t.Errorf("%v, things %q", summaries(report.Problems), got)
	}
}

// A failed end holds back nothing whose identity is known; of what may be the same
// thing nothing is begun.
func TestEnds_Fail(t *testing.T) {
	t.Parallel()
	e := endings(t)
	e.opts.KeepGoing = true
	e.do(t, one("known", "a", `"x"`, "1")+one("older", "c", `"z"`, "1"))
	e.world.Fail("x", true)
	e.world.Fail("z", true)
	report := e.do(t, one("known", "b", `"y"`, "1")+one("older", "d", `"z"`, "2"))
	if b, d := report.Resources["b"], report.Resources["d"]; b.Status != apply.OK || d.Status != apply.NotStarted || d.Reason != "it waits for c, which failed" {
		t.Errorf("b %+v, d %+v", b, d)
	}
}

// What replaces another thing is asked for without the state of that.
func TestObjects_AnotherIsQueriedWithoutTheOldState(t *testing.T) {
	t.Parallel()
	e := endings(t)
	forget := func(id string) string {
		return strings.Replace(one("known", "a", `"`+id+`"`, "1"), "  config", "  lifecycle {\n    on_remove = \"forget\"\n  }\n  config", 1)
	}
	e.do(t, forget("x"))
	e.world.TakeLog()
	var seen []string
	e.runner = watching{e.fake, func(stdin string) { seen = append(seen, stdin) }}
	e.do(t, forget("y"))
	if len(seen) == 0 || slices.ContainsFunc(seen, func(in string) bool { return strings.Contains(in, "last_state") || strings.Contains(in, "lastState") }) {
		t.Errorf("asked with %q", seen)
	}
}

// What is begun in place of another thing, which stays, is what is recorded from then on.
func TestObjects_StartedInPlaceOfAnotherIsRecorded(t *testing.T) {
	t.Parallel()
	e := endings(t)
	forget := func(id string) string {
		return strings.Replace(one("known", "a", `"`+id+`"`, "1"), "  config", "  lifecycle {\n    on_remove = \"forget\"\n  }\n  config", 1)
	}
	e.do(t, forget("x"))
	e.world.Fail("y", true)
	e.do(t, forget("y"))
	if a := e.recorded(t).Resources["a"]; !a.Incomplete() || string(a.Config) != `{"id":"y","v":1}` {
		t.Errorf("recorded %s", encode(a))
	}
}

// A plan that only records follows the things as any other.
func TestRefreshOnly_FollowsObjects(t *testing.T) {
	t.Parallel()
	e := endings(t)
	e.do(t, one("known", "a", `"x"`, "1")+one("known", "s", `"y"`, "1"))
	e.world.Set("x", `{"id":"x","v":3}`)
	got, p := e.selected(one("known", "b", `"x"`, "1")+one("known", "s", `"z"`, "1"), plan.Selection{RefreshOnly: true})
	if got != "b:record s:left" {
		t.Errorf("planned %s", got)
	}
	report, err := e.apply(t.Context(), p)
	if err != nil || report.Status != apply.OK {
		t.Fatalf("%v %v", err, summaries(report.Problems))
	}
	s := e.recorded(t)
	if _, stays := s.Resources["a"]; stays || s.Resources["b"].LastSeen == nil || string(s.Resources["s"].Config) != `{"id":"y","v":1}` {
		t.Errorf("recorded %s", encode(s.Resources))
	}
}

// watching is a Runner that shows what its queries are asked with.
type watching struct {
	runner.Runner
	seen func(stdin string)
}

func (w watching) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	if len(s.Args) > 0 {
		w.seen(string(s.Stdin))
	}
	return w.Runner.Run(ctx, s)
}
