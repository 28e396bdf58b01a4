package apply_test

import (
	"strings"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/plan/repair"
	"deployster/protocol"
)

// Where only drift is approved, what the plan could not show is done when it
// turns out to bring back what was recorded, and nothing else is.
func TestRun_OnlyDriftIsApproved(t *testing.T) {
	t.Parallel()
	const kept = "ok a=ok b=ok c=valid d=valid"
	for name, c := range map[string]struct {
		then  string
		kinds []plan.Change
		want  string
	}{
		"its config is the recorded one": {chain("1"), nil, kept},
		"it takes another value":         {chain("2"), nil, "incomplete a=ok b=not_started c=not_started d=ok"},
		"updates are approved too":       {chain("2"), []plan.Change{plan.Create, plan.Update}, "ok a=ok b=ok c=ok d=ok"},
		"it is depended on otherwise":    {strings.Replace(chain("1"), "v = resource.a.state.v", "w = resource.a.state.v", 1), nil, "incomplete a=ok b=not_started c=not_started d=valid"},
	} {
		e := newEngine(t.TempDir())
		e.do(t, chain("1"))
		e.world.Set("a", "")
		e.world.Set("b", "")
		e.opts.Deferred, e.opts.Kinds = apply.DeferredByKinds, append(c.kinds, repair.Kind)
		if got := outcomes(e.do(t, c.then)); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// What was shown as a repair is none when a repair before it gives it another config,
// also where the actions are those that were shown, and where nothing to do for it.
func TestRun_ARepairThatBecameAnother(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ after, there, want string }{
		{"1", "", "ok a=ok b=ok"},
		{"2", "", "incomplete a=ok b=not_started"},
		{"2", `{"v":2}`, "incomplete a=ok b=not_started"},
	} {
		e := newEngine(t.TempDir())
		n, right := "1", false
		a := &scripted{answer: func(_ protocol.StateInput, args []string) (string, int) {
			switch {
			case args[0] != "state":
				right = true
				return "", 0
			case right:
				return `{"status":"VALID","state":{"n":` + n + `}}`, 0
			}
			return `{"status":"STALE","staleState":{"n":1},"actions":[{"name":"fix","args":["fix"]}]}`, 0
		}}
		e.fake.Add("test/a:1", a.program)
		source := "resource \"a\" {\n  type = \"test/a:1\"\n  config = {}\n}\n" + thing("b", "v", "resource.a.state.n")
		e.do(t, source)
		right, n = false, test.after
		e.world.Set("b", test.there)
		e.opts.Deferred, e.opts.Kinds = apply.DeferredByKinds, []plan.Change{repair.Kind}
		if got := outcomes(e.do(t, source)); got != test.want {
			t.Errorf("a is %s, and b %q: %s, want %s", test.after, test.there, got, test.want)
		}
	}
}

// What a plan shows of a resource is a repair only if nothing about it is new.
func TestAnswered_ARepairHasNothingNew(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.fake.Add("test/other:1", e.world.Program)
	e.do(t, thing("a", "v", "1")+thing("b", "v", "1"))
	for name, c := range map[string]struct {
		source string
		want   bool
	}{
		"as recorded":    {thing("a", "v", "1"), true},
		"another config": {thing("a", "v", "2"), false},
		"another image":  {strings.Replace(thing("a", "v", "1"), "thing:1", "other:1", 1), false},
		"a new setting":  {strings.Replace(thing("a", "v", "1"), `"test/thing:1"`, "type.t", 1) + "type \"t\" {\n  image = \"test/thing:1\"\n  memory = \"1GiB\"\n}\n", false},
		"moved":          {strings.Replace(thing("a", "v", "1"), `"a"`, `"c"`, 1) + "moved {\n  from = resource.a\n  to = resource.c\n}\n", false},
		"new":            {thing("n", "v", "1"), false},
	} {
		e.world.Set("a", "")
		p, err := e.plan(c.source + thing("b", "v", "1"))
		if err != nil {
			t.Fatal(name, err)
		}
		for addr, step := range p.Resources {
			if got := repair.Answered(step, e.recorded(t).Resources[addr]); addr != "b" && got != c.want && step.Change() != plan.Destroy {
				t.Errorf("%s: of %s (%s): %v", name, addr, step.Change(), got)
			}
		}
	}
}
