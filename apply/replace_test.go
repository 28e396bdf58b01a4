package apply_test

import (
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/plan/reason"
)

// What -replace names is destroyed and made again: after all that lets go of it,
// before all that still depends on it, and of two that depend on each other the
// dependant is destroyed first and made last.
func TestReplace_RunsInTheOrderOfDependencies(t *testing.T) {
	chain := thing("net", "v", "1") + thing("db", "v", "1", "on", "resource.net.state.v") + thing("app", "v", "1", "on", "resource.db.state.v")
	for name, c := range map[string]struct {
		now, then string
		replace   []string
		want      string
		done      []string // in this order
	}{
		"one, and what depends on it": {chain, chain, []string{"net"}, "app:deferred db:deferred net:replace", []string{"remove net", "make net"}},
		"two that depend on each other": {chain, chain, []string{"net", "db"}, "app:deferred db:replace net:replace",
			[]string{"remove db", "remove net", "make net", "make db"}},
		"who lets go is first": {chain, thing("net", "v", "1") + thing("db", "v", "2"), []string{"net"}, "app:destroy db:update net:replace",
			[]string{"remove app", "change db", "remove net", "make net"}},
		"with another config": {chain, strings.Replace(chain, "v = 1", "v = 2", 1), []string{"net"}, "app:deferred db:deferred net:replace",
			[]string{"remove net", "make net", "change db"}},
		"nothing is there":       {"", chain, []string{"db"}, "app:deferred db:deferred net:create", []string{"make net", "make db", "make app"}},
		"all of a for_each":      {each("n", "{ a = 1 }"), each("n", "{ a = 1 }"), []string{"n"}, `n["a"]:replace`, []string{`remove n["a"]`, `make n["a"]`}},
		"a dependant is removed": {chain, thing("net", "v", "1"), []string{"net"}, "app:destroy db:destroy net:replace", []string{"remove app", "remove db", "remove net", "make net"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t.TempDir())
			e.opts.Parallelism = 1
			if c.now != "" {
				e.do(t, c.now)
			}
			e.world.TakeLog()
			got, p := e.selected(c.then, plan.Selection{Replace: c.replace})
			if got != c.want {
				t.Fatalf("planned %s, want %s", got, c.want)
			}
			report, err := e.apply(t.Context(), p)
			if err != nil || report.Status != apply.OK {
				t.Fatalf("%s, %v, %v", report.Status, summaries(report.Problems), err)
			}
			done := slices.DeleteFunc(e.world.TakeLog(), func(line string) bool { return !slices.Contains(c.done, line) })
			if !slices.Equal(done, c.done) {
				t.Errorf("done %q, want %q", done, c.done)
			}
			if rest, p := e.selected(c.then, plan.Selection{}); p.HasChanges() {
				t.Errorf("there is still to do: %s", rest)
			}
			for addr, entry := range e.recorded(t).Resources {
				if entry.Dirty || addr == "net" && len(entry.Dependencies) > 0 {
					t.Errorf("%s is recorded as %s", addr, encode(entry))
				}
			}
		})
	}
}

// What must not be replaced, or cannot be, is refused before anything is done.
func TestReplace_IsRefused(t *testing.T) {
	guard := func(name, line string) string {
		return "resource \"" + name + "\" {\n  type = \"test/thing:1\"\n  config = {}\n  " + line + "\n}\n"
	}
	e := newEngine(t.TempDir())
	e.fake.Add("test/broken:1", broken)
	e.do(t, thing("a", "v", "1")+guard("kept", "lifecycle {\n    prevent_destroy = true\n  }")+thing("old"))
	for _, c := range []struct {
		source  string
		replace plan.Selection
		want    string
	}{
		{guard("kept", "lifecycle {\n    prevent_destroy = true\n  }"), plan.Selection{Replace: []string{"kept"}}, "Protected resource would be replaced"},
		{guard("kept", ""), plan.Selection{Replace: []string{"kept"}}, "last applied with prevent_destroy = true"},
		{guard("kept", "") + guard("a", "read_only = true"), plan.Selection{Replace: []string{"a"}}, "Read-only resource would be replaced"},
		{guard("kept", "") + "resource \"b\" {\n  type = \"test/broken:1\"\n  config = {}\n}\n", plan.Selection{Replace: []string{"b"}}, "cannot remove objects"},
		{guard("kept", ""), plan.Selection{Replace: []string{"a"}}, "-replace=a is not declared"},
		{guard("kept", "") + thing("a", "v", "1"), plan.Selection{Replace: []string{"a"}, Targets: []string{"kept"}}, "-replace=a is left out"},
		{guard("kept", "") + thing("a", "v", "1"), plan.Selection{Replace: []string{"A"}}, "-replace=A names nothing"},
	} {
		got, p := e.selected(c.source, c.replace)
		if p != nil || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s, want %s", c.replace, got, c.want)
		}
	}
}

// A replacement that comes to a stop half-way is never told as done, and is made
// whole by the next apply.
func TestReplace_IsCompletedByTheNextApply(t *testing.T) {
	e := newEngine(t.TempDir())
	e.opts.Parallelism = 1
	source := thing("a", "v", "1") + thing("b", "v", "1", "on", "resource.a.state.v")
	e.do(t, source)
	_, p := e.selected(source, plan.Selection{Replace: []string{"a", "b"}})
	e.world.Watch(func(name, action string) { e.world.Fail("a", name == "a" && action == "make") })
	report, err := e.apply(t.Context(), p)
	if err != nil || report.Status != apply.Error {
		t.Fatalf("%s, %v", report.Status, err)
	}
	a, b := report.Resources["a"], report.Resources["b"]
	if a.Status != apply.Error || a.Failed != "make" || !slices.Equal(a.Completed, []string{"remove"}) {
		t.Errorf("a: %+v", a)
	}
	if b.Status != apply.Error || b.Failed != "replace" || !slices.Equal(b.Completed, []string{"remove"}) || !strings.Contains(b.Reason, "not created again") {
		t.Errorf("b: %+v", b)
	}
	if there := e.recorded(t).Resources; len(there) != 1 || !there["a"].Incomplete() { // of it something may have been made
		t.Errorf("recorded: %s", encode(there))
	}
	e.world.Watch(nil)
	e.world.Fail("a", false)
	if got, _ := e.selected(source, plan.Selection{}); got != "a:create b:deferred" {
		t.Errorf("planned %s", got)
	}
	if report := e.do(t, source); report.Status != apply.OK {
		t.Errorf("%s", report.Status)
	}
}

// What a plan would do to what depends on what goes, and to what was there
// before, is said beside it.
func TestPlan_ReportsWhatIsLeftBehind(t *testing.T) {
	e := newEngine(t.TempDir())
	e.fake.Add("test/other:1", e.world.Program)
	keep := "resource \"top\" {\n  type = \"test/thing:1\"\n  config = { on = resource.base.name }\n  lifecycle {\n    on_remove = \"forget\"\n  }\n}\n"
	e.do(t, thing("base")+keep+thing("moved", "v", "1")+thing("other", "v", "1"))
	e.world.Set("moved", "")
	e.world.Set("other", "")
	got, p := e.selected(thing("moved", "v", "2")+strings.Replace(thing("other", "v", "1"), "test/thing:1", "test/other:1", 1), plan.Selection{})
	if got != "base:destroy moved:create other:create top:forget" {
		t.Fatalf("planned %s", got)
	}
	for addr, want := range map[string]string{"base": "resource.top was recorded as depending on it, and is only forgotten", "moved": "recorded with another config", "other": "created by test/thing:1"} {
		if notes := strings.Join(reason.Words(p.Resources[addr].Notes), " "); !strings.Contains(notes, want) {
			t.Errorf("%s: %q, want %q", addr, notes, want)
		}
	}
}
