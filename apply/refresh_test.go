package apply_test

import (
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/state"
)

// asked gives the resources whose state was asked for since the last call.
func (e *engine) asked(seen *int) string {
	calls := e.fake.Calls()
	var names []string
	for _, c := range calls[*seen:] {
		if c.Kind == runner.Query && len(c.Args) > 0 && c.Args[0] == "state" {
			name, _, _ := strings.Cut(c.Name, "/")
			names = append(names, name)
		}
	}
	*seen = len(calls)
	return strings.Join(names, " ")
}

func (e *engine) recorded(t *testing.T) state.Snapshot {
	t.Helper()
	s, _, err := state.Load(state.File(e.statePath()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// -refresh=false uses what was recorded as VALID, and asks what the manifest changed and
// what takes values from that.
func TestNoRefresh_QueriesOnlyWhatChanged(t *testing.T) {
	recorded := plan.Selection{NoRefresh: true}
	e := newEngine(t.TempDir())
	e.opts.Parallelism = 1
	e.do(t, stack("1"))
	at := e.recorded(t).Resources["log"].ValidAt
	seen := 0
	e.asked(&seen)
	for _, c := range []struct{ what, source, want, asked string }{
		{"nothing changed", stack("1"), "app:valid db:valid log:valid net:valid", ""},
		{"one config", replaced(stack("1"), `"log"`, `"log"`) + thing("new"), "app:valid db:valid log:valid net:valid new:create", "new"},
		{"a dependency", strings.Replace(stack("1"), "v = 1", "v = 2", 1), "app:valid db:valid log:valid net:update", "app db net"},
		{"what is gone from the manifest", thing("net", "v", "1") + thing("db", "v", "1", "on", "resource.net.state.v") + thing("log", "v", "1"),
			"app:destroy db:valid log:valid net:valid", "app"},
	} {
		got, _ := e.selected(c.source, recorded)
		asked := strings.Fields(e.asked(&seen))
		if got != c.want || !sameWords(asked, strings.Fields(c.asked)) {
			t.Errorf("%s: planned %s and asked %q, want %s and %q", c.what, got, asked, c.want, c.asked)
		}
	}

	// What is used as recorded, and an action depends on, is asked before that is run.
	e.world.Set("net", `{"v":7}`)
	_, p := e.selected(strings.Replace(stack("1"), "db\" {\n  type = \"test/thing:1\"\n  config = {\n    v = 1", "db\" {\n  type = \"test/thing:1\"\n  config = {\n    v = 2", 1), recorded)
	if got := changes(p); got != "app:update db:update log:valid net:valid" && got != "app:valid db:update log:valid net:valid" {
		t.Fatalf("planned %s", got)
	}
	e.world.TakeLog()
	report, err := e.apply(t.Context(), p)
	if err != nil || report.Resources["net"].Status != apply.Error || report.Resources["db"].Status != apply.NotStarted {
		t.Errorf("what was recorded is not so: %+v, %v", report.Resources["net"], err)
	}
	if done := e.world.TakeLog(); len(done) > 0 {
		t.Errorf("and yet it did %v", done)
	}
	if got := e.recorded(t).Resources["log"].ValidAt; !got.Equal(at) {
		t.Errorf("nobody looked at log, and its time went from %s to %s", at, got)
	}

	// What an action was started on is asked again until it was seen.
	e = newEngine(t.TempDir())
	e.do(t, thing("a", "v", "1"))
	e.world.Fail("a", true)
	e.do(t, thing("a", "v", "2"))
	seen = 0
	e.asked(&seen)
	if _, p := e.selected(thing("a", "v", "1"), recorded); p.Resources["a"].Unrefreshed() || e.asked(&seen) != "a" {
		t.Error("an action was started on it, and it is taken to be as it was before")
	}

	// Nor is one whose type has another image now.
	e.world.Fail("a", false)
	e.do(t, thing("a", "v", "1"))
	e.fake.AddDigest("test/thing:1", "sha256:"+strings.Repeat("5", 64), e.world.Program)
	if _, p := e.selected(thing("a", "v", "1"), recorded); p.Resources["a"].Unrefreshed() {
		t.Error("its image is another one, and what the old one said is used")
	}
}

func sameWords(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	count := map[string]int{}
	for i := range a {
		count[a[i]]++
		count[b[i]]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// -refresh-only records what is real and does nothing to it.
func TestRefreshOnly_Records(t *testing.T) {
	only := plan.Selection{RefreshOnly: true}
	source := thing("a", "v", "1") + thing("b", "v", "resource.a.state.v") + thing("gone", "v", "1") + thing("after", "v", "resource.gone.state.v") +
		thing("same", "v", "1") + thing("there", "v", "1") + thing("never", "v", "1") + thing("other", "v", "1") +
		"output \"a\" {\n  value = resource.a.state.v\n}\noutput \"gone\" {\n  value = resource.gone.state.v\n}\n"
	e := newEngine(t.TempDir())
	e.do(t, thing("a", "v", "1")+thing("b", "v", "resource.a.state.v")+thing("gone", "v", "1")+thing("after", "v", "resource.gone.state.v")+
		thing("same", "v", "1")+thing("undeclared", "v", "1")+
		"output \"a\" {\n  value = resource.a.state.v\n}\noutput \"gone\" {\n  value = resource.gone.state.v\n}\n")
	e.world.Set("a", `{"v":7}`)
	e.world.Set("gone", "")
	e.world.Set("there", `{"v":1}`)
	e.world.Set("other", `{"v":3}`)
	e.world.TakeLog()
	before := e.recorded(t)
	got, p := e.selected(source, only)
	if want := "a:record after:left b:record gone:forget never:left other:left same:valid there:record undeclared:left"; got != want {
		t.Fatalf("planned  %s\nwant     %s", got, want)
	}
	for addr, step := range p.Resources {
		if len(step.Answer().Actions) > 0 || step.Answer().Shutdown != nil {
			t.Errorf("%s has actions in a plan that only records", addr)
		}
	}
	report, err := e.apply(t.Context(), p)
	if err != nil || report.Status != apply.OK {
		t.Fatalf("%+v, %v", report, err)
	}
	if done := e.world.TakeLog(); len(done) > 0 {
		t.Errorf("it did %v", done)
	}
	after := e.recorded(t)
	a := after.Resources["a"]
	if a.LastSeen == nil || string(a.LastSeen.State) != `{"v":7}` || string(a.State) != `{"v":1}` {
		t.Errorf("a: what was found must stand beside what was VALID: %+v", a)
	}
	if _, still := after.Resources["gone"]; still {
		t.Error("what is gone is still recorded")
	}
	for _, addr := range []string{"after", "same", "undeclared"} {
		if state.EntryHash(before.Resources[addr]) != state.EntryHash(after.Resources[addr]) {
			t.Errorf("%s was recorded anew", addr)
		}
	}
	if _, adopted := after.Resources["there"]; !adopted {
		t.Error("what is as declared was not recorded")
	}
	if string(after.Outputs["a"].Value) != "7" || string(after.Outputs["gone"].Value) != "1" {
		t.Errorf("outputs %+v", after.Outputs)
	}

	// There is nothing more to record, and what was found is not taken for VALID.
	if got, p := e.selected(source, only); p.HasChanges() {
		t.Errorf("again: %s, %+v", got, p.Outputs)
	}
	if got, p := e.selected(source, plan.Selection{NoRefresh: true, Targets: []string{"a", "same"}}); !strings.HasPrefix(got, "a:update same:valid |") || !p.Resources["same"].Unrefreshed() {
		t.Errorf("not asked: %s", got)
	}
	e.do(t, source)
	if a := e.recorded(t).Resources["a"]; a.LastSeen != nil || string(a.State) != `{"v":1}` {
		t.Errorf("mended, it is recorded as %+v", a)
	}
	if _, p := e.selected(source, plan.Selection{RefreshOnly: true, Replace: []string{"a"}}); p != nil {
		t.Error("-refresh-only with -replace")
	}
	if _, p := e.selected(source, plan.Selection{RefreshOnly: true, NoRefresh: true}); p != nil {
		t.Error("-refresh-only with -refresh=false")
	}
}

// What is doubted is asked, and what depends on it if that is to change; the rest is
// taken to be as it is recorded.
func TestPlan_QueriesWhatIsDoubted(t *testing.T) {
	t.Parallel()
	source := thing("a", "v", "1") + thing("b", "v", "1", "on", "resource.a.state.v") + thing("c", "v", "1")
	for _, c := range []struct {
		name, lost string
		doubt      []string
		want       string
	}{
		{"nothing", "a", nil, "a:valid b:valid c:valid"},
		{"what is gone", "a", []string{"a"}, "a:create b:deferred c:valid"},
		{"what is there", "b", []string{"a"}, "a:valid b:valid c:valid"},
		{"who depends on it", "b", []string{"b", "c"}, "a:valid b:create c:valid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEngine(t.TempDir())
			e.do(t, source)
			e.world.Set(c.lost, "")
			e.only.NoRefresh, e.doubt = true, c.doubt
			p, err := e.plan(source)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, addr := range []string{"a", "b", "c"} {
				step := p.Resources[addr]
				got = append(got, addr+":"+string(step.Change()))
				if step.Unrefreshed() == slices.Contains(c.doubt, addr) && step.Change() != plan.Deferred {
					t.Errorf("%s was asked: %v", addr, !step.Unrefreshed())
				}
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("planned %s, want %s", text, c.want)
			}
		})
	}
}
