package apply_test

import (
	"strings"
	"testing"

	"deployster/apply"
)

// TestTriggers_ReplaceAfterAChangeOfTheTrigger: a resource is replaced when what it names in replace_triggered_by
// changes, and not when something else does.
func TestTriggers_ReplaceAfterAChangeOfTheTrigger(t *testing.T) {
	t.Parallel()
	by := func(triggers string) string {
		return replaced(thing("b", "v", "1"), "  config", "  lifecycle {\n    replace_triggered_by = ["+triggers+"]\n  }\n  config")
	}
	base, other := thing("a", "v", "1", "w", "1"), thing("a", "v", "2", "w", "1")
	for name, c := range map[string]struct{ before, then, done string }{
		"nothing changes":             {base + thing("b", "v", "1"), base + by("resource.a"), ""},
		"it is updated":               {base + thing("b", "v", "1"), other + by("resource.a"), "remove b, change a, make b"},
		"a value is expected to stay": {base + thing("b", "v", "1"), other + by("resource.a.state.v"), "change a"},
		"another value changes":       {base + thing("b", "v", "1"), other + by("resource.a.state.w"), "change a"},
		"a value of its config":       {base + thing("b", "v", "1"), other + by("resource.a.config.v"), "remove b, change a, make b"},
		"another one of its config":   {base + thing("b", "v", "1"), other + by("resource.a.config.w"), "change a"},
		"it is created":               {thing("b", "v", "1"), base + by("resource.a, resource.a.state.v"), "make a"},
		"itself is created":           {base, other + by("resource.a"), "change a, make b"},
		"what it names is replaced itself": {base + thing("b", "v", "1") + thing("c", "v", "1"),
			other + by("resource.a") + replaced(by("resource.b"), `"b"`, `"c"`), "remove b, remove c, change a, make b, make c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			e.opts.Parallelism = 1
			e.do(t, c.before)
			e.world.TakeLog()
			p, err := e.plan(c.then)
			if err != nil {
				t.Fatal(err)
			}
			if report, err := e.apply(t.Context(), p); err != nil || len(report.Problems) > 0 {
				t.Fatalf("%v %v", err, summaries(report.Problems))
			}
			if got := strings.Join(e.world.TakeLog(), ", "); got != c.done {
				t.Errorf("done %q, want %q", got, c.done)
			}
			if rest, err := e.plan(c.then); err != nil || rest.HasChanges() {
				t.Errorf("something is left to do: %v %v", changes(rest), err)
			}
			if step := p.Resources["b"]; strings.HasPrefix(c.done, "remove b") != strings.Contains(step.Reason.Words(), "replace_triggered_by") {
				t.Errorf("the plan says %s because %q", step.Change(), step.Reason.Words())
			}
		})
	}
}

// What is replaced triggers another, also where what was there before stays.
func TestTriggers_WhereTheOldObjectStays(t *testing.T) {
	t.Parallel()
	e := endings(t)
	keep := func(id string) string {
		return replaced(one("known", "x", `"`+id+`"`, "1"), "  config", "  lifecycle {\n    on_remove = \"forget\"\n  }\n  config")
	}
	by := replaced(thing("b", "v", "1"), "  config", "  lifecycle {\n    replace_triggered_by = [resource.x]\n  }\n  config")
	e.do(t, keep("x1")+by)
	e.world.TakeLog()
	report := e.do(t, keep("x2")+by)
	// Nothing of x ends, so b need not end before it begins.
	if done := e.done(); report.Status != apply.OK || done != "remove b, make x2, make b" && done != "make x2, remove b, make b" || e.there() != "b x1 x2" {
		t.Errorf("%v, done %q: there is %q", summaries(report.Problems), done, e.there())
	}
}

// Two of one kind are replaced with what their identities are made of: neither end waits
// for the identity of the other, as both are made anew.
func TestTriggers_TwoOfOneKind(t *testing.T) {
	t.Parallel()
	e := endings(t)
	e.opts.Parallelism = 1
	e.fake.Add("test/dir:1", e.known)
	source := func(id string) string {
		both := one("dir", "dir", `"`+id+`"`, `"p"`)
		for _, name := range []string{"f", "g"} {
			f := one("known", name, `"${resource.dir.state.v}`+name+`"`, "1")
			both += replaced(f, "  config", "  lifecycle {\n    replace_triggered_by = [resource.dir]\n  }\n  config")
		}
		return both
	}
	e.do(t, source("d1"))
	e.world.TakeLog()
	p, err := e.plan(source("d2"))
	if err != nil {
		t.Fatal(err)
	}
	report, err := e.apply(t.Context(), p)
	if done := e.done(); err != nil || report.Status != apply.OK || done != "remove pf, remove pg, remove d1, make d2, make pf, make pg" {
		t.Errorf("%v %v, done %q", err, summaries(report.Problems), done)
	}
	if rest, err := e.plan(source("d2")); err != nil || rest.HasChanges() {
		t.Errorf("something is left to do: %v %v", changes(rest), err)
	}
}
