package apply_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/state"
	"deployster/state/moves"
)

// changes gives a plan in short: address and change, sorted, and what is left out.
func changes(p *plan.Plan) string {
	var words []string
	for _, addr := range slices.Sorted(maps.Keys(p.Resources)) {
		words = append(words, addr+":"+string(p.Resources[addr].Change()))
	}
	text := strings.Join(words, " ")
	if len(p.LeftOut) > 0 {
		text += " | " + strings.Join(p.LeftOut, " ")
	}
	return text
}

// stack is a chain with a side: app needs db, db needs net, log stands alone.
func stack(v string) string {
	return thing("net", "v", v) + thing("db", "v", v, "on", "resource.net.state.v") +
		thing("app", "v", v, "on", "resource.db.state.v") + thing("log", "v", v)
}

// selected plans with a selection; it gives the plan in short, or the error.
func (e *engine) selected(source string, s plan.Selection) (string, *plan.Plan) {
	e.only = s
	defer func() { e.only = plan.Selection{} }()
	p, err := e.plan(source)
	if err != nil {
		return err.Error(), nil
	}
	return changes(p), p
}

func TestSelection_TakesAlongWhatMustComeBefore(t *testing.T) {
	for name, c := range map[string]struct {
		now, then string // manifests: what is there, what is planned
		only      plan.Selection
		want      string
	}{
		"target with what it depends on": {"", stack("1"), plan.Selection{Targets: []string{"db"}}, "db:deferred net:create | app log"},
		"written as in manifests":        {"", stack("1"), plan.Selection{Targets: []string{"resource.db", "db"}}, "db:deferred net:create | app log"},
		"exclude with what waits for it": {"", stack("1"), plan.Selection{Excludes: []string{"db"}}, "log:create net:create | app db"},
		"target and exclude":             {"", stack("1"), plan.Selection{Targets: []string{"db", "log"}, Excludes: []string{"log"}}, ""},
		"dependencies that must change":  {stack("1"), stack("2"), plan.Selection{Targets: []string{"db"}}, "db:update net:update | app log"},
		"removed and not asked for":      {stack("1"), thing("net", "v", "2") + thing("log", "v", "1"), plan.Selection{Targets: []string{"log"}}, "log:valid | app db net"},
		"removed, with its dependants":   {stack("1"), thing("net", "v", "1"), plan.Selection{Targets: []string{"db"}}, "app:destroy db:destroy | log net"},
		"a dependant keeps what goes":    {stack("1"), thing("log", "v", "1"), plan.Selection{Excludes: []string{"app"}}, "log:valid | app db net"},
		"who lets go comes along": {stack("1"), thing("app", "v", "2") + thing("db", "v", "1") + thing("log", "v", "1"),
			plan.Selection{Targets: []string{"net"}}, "db:update net:destroy | app log"},
		"who does not let go keeps it": {stack("1"), thing("app", "v", "2") + thing("db", "v", "1") + thing("log", "v", "1"),
			plan.Selection{Excludes: []string{"db"}}, "app:update log:valid | db net"},
		"an instance": {"", each("node", `{ a = 1, b = 2 }`), plan.Selection{Targets: []string{`node["a"]`}}, `node["a"]:create | node["b"]`},
		"a whole for_each": {"", each("node", `{ a = 1, b = 2 }`) + thing("x"), plan.Selection{Targets: []string{"node"}},
			`node["a"]:create node["b"]:create | x`},
		"an instance that goes": {each("node", `{ a = 1, b = 2, c = 3 }`), each("node", `{ a = 1 }`), plan.Selection{Targets: []string{`node["b"]`}},
			`node["b"]:destroy | node["a"] node["c"]`},
		"nothing of that name":  {"", stack("1"), plan.Selection{Targets: []string{"bd"}}, "-target=bd names nothing: There is no resource and no module with that address, neither in the manifest nor in the state file. Did you mean db?"},
		"a key without quotes":  {"", each("node", `{ a = 1 }`), plan.Selection{Excludes: []string{"node[a]"}}, `Did you mean node["a"]`},
		"nothing is left of it": {"", stack("1"), plan.Selection{Targets: []string{"app"}, Excludes: []string{"net"}}, "Nothing is left of -target=app"},
		"only the state knows":  {stack("1"), "", plan.Selection{Excludes: []string{"log"}}, "app:destroy db:destroy net:destroy | log"},
		"several are wrong":     {"", stack("1"), plan.Selection{Targets: []string{"x.y"}, Excludes: []string{"1"}}, "-exclude=1 is not an address"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t.TempDir())
			if c.now != "" {
				e.do(t, c.now)
			}
			if name == "target and exclude" { // log is excluded altogether: that is a contradiction
				c.want = "Nothing is left of -target=log"
			}
			got, p := e.selected(c.then, c.only)
			if p != nil && got != c.want || p == nil && !strings.Contains(got, c.want) {
				t.Fatalf("planned  %s\nwant     %s", got, c.want)
			}
			if p == nil {
				return
			}
			before := e.world.Things()
			if report, err := e.apply(t.Context(), p); err != nil || report.Status != apply.OK {
				t.Fatalf("applied: %+v, %v", report, err)
			}
			after := e.world.Things()
			for _, addr := range p.LeftOut {
				if before[addr] != after[addr] {
					t.Errorf("%s is left out, and was changed from %q to %q", addr, before[addr], after[addr])
				}
			}
			if rest, _ := e.selected(c.then, c.only); c.only.Partial() && !onlyValid(rest) {
				t.Errorf("after the apply there is still to do: %s", rest)
			}
			e.do(t, c.then) // what was left out can be done at any time
			if rest, _ := e.selected(c.then, plan.Selection{}); !onlyValid(rest) {
				t.Errorf("after a whole apply there is still to do: %s", rest)
			}
		})
	}
}

// onlyValid reports whether nothing to do, or the selection names what is
// gone by now.
func onlyValid(short string) bool {
	if strings.Contains(short, "names nothing") {
		return true
	}
	planned, _, _ := strings.Cut(short, " |")
	for _, word := range strings.Fields(planned) {
		if !strings.HasSuffix(word, ":valid") {
			return false
		}
	}
	return true
}

// each writes a resource block with for_each.
func each(name, over string) string {
	return "resource \"" + name + "\" {\n  type = \"test/thing:1\"\n  for_each = " + over + "\n  config = { v = each.value }\n}\n"
}

// A for_each that is made of the state of something that is not asked for keeps
// its instances as they are recorded.
func TestForEach_OfAnUnselectedStateKeepsItsInstances(t *testing.T) {
	source := func(keys string) string {
		return thing("src", "keys", keys) + each("node", "{ for k in resource.src.state.keys : k => 1 }") + thing("other", "v", "1") +
			"output \"count\" {\n  value = length(resource.node)\n}\noutput \"o\" {\n  value = resource.other.state.v\n}\n"
	}
	e := newEngine(t.TempDir())
	e.do(t, thing("src", "keys", `["a", "b"]`))
	e.do(t, source(`["a", "b"]`))
	for _, c := range []struct {
		only plan.Selection
		want string
	}{
		{plan.Selection{Targets: []string{"other"}}, `other:valid | node node["a"] node["b"] src`},
		{plan.Selection{Excludes: []string{"src"}}, `other:valid | node node["a"] node["b"] src`},
		{plan.Selection{Excludes: []string{"node"}}, `other:valid src:update | node node["a"] node["b"]`},
		{plan.Selection{Targets: []string{"src"}}, `src:update | node node["a"] node["b"] other`},
	} {
		e.fake.Calls()
		got, p := e.selected(source(`["a", "b", "c"]`), c.only)
		if got != c.want {
			t.Fatalf("%+v: planned %s, want %s", c.only, got, c.want)
		}
		if !p.Outputs["count"].LeftOut || string(p.Outputs["count"].Value) != "2" {
			t.Errorf("%+v: the output of what is left out: %+v", c.only, p.Outputs["count"])
		}
	}
	// Instances of an unchanged source: only what was named.
	if got, _ := e.selected(source(`["a", "b"]`), plan.Selection{Targets: []string{`node["b"]`}}); got != `node["b"]:valid src:valid | node["a"] other` {
		t.Errorf("one instance: %s", got)
	}
	_, p := e.selected(source(`["a", "b", "c"]`), plan.Selection{Targets: []string{"src"}})
	if _, err := e.apply(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	snapshot, _, err := state.Load(state.File(e.statePath()))
	if err != nil || string(snapshot.Outputs["count"].Value) != "2" || string(snapshot.Outputs["o"].Value) != "1" || len(snapshot.Resources) != 4 {
		t.Errorf("recorded %+v, %v", snapshot, err)
	}
	if got, _ := e.selected(source(`["a", "b", "c"]`), plan.Selection{Targets: []string{`node["c"]`}}); got != `node["c"]:create src:valid | node["a"] node["b"] other` {
		t.Errorf("a new instance: %s", got)
	}
}

// What is left out keeps also its address.
func TestMoves_OfWhatIsLeftOut(t *testing.T) {
	e := newEngine(t.TempDir())
	e.do(t, thing("a", "v", "1")+thing("x", "v", "1")+thing("n", "v", "1", "on", "resource.x.state.v"))
	then := thing("b", "v", "1") + thing("y", "v", "1") + thing("n", "v", "1", "on", "resource.y.state.v") +
		"moved {\n  from = resource.a\n  to = resource.b\n}\nmoved {\n  from = resource.x\n  to = resource.y\n}\n"
	for _, c := range []struct {
		only     plan.Selection
		moves    []moves.Move
		recorded []string
	}{
		{plan.Selection{Targets: []string{"b"}}, []moves.Move{{From: "a", To: "b"}}, []string{"b", "n", "x"}},
		{plan.Selection{Excludes: []string{"b"}}, []moves.Move{{From: "x", To: "y"}}, []string{"b", "n", "y"}},
	} {
		got, p := e.selected(then, c.only)
		if p == nil {
			t.Fatal(got)
		}
		if !slices.Equal(p.Moves, c.moves) {
			t.Errorf("moves %v, want %v", p.Moves, c.moves)
		}
		if _, err := e.apply(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		snapshot, _, err := state.Load(state.File(e.statePath()))
		if names := slices.Sorted(maps.Keys(snapshot.Resources)); err != nil || !slices.Equal(names, c.recorded) {
			t.Errorf("recorded %v, %v", names, err)
		}
	}
}
