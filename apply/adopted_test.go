package apply_test

import (
	"context"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/plan/repair"
	"deployster/protocol"
)

// An entry is adopted as long as no create by deployster has ended well, whatever else is done
// to its resource.
func TestAdopted_UntilACreateEndsWell(t *testing.T) {
	t.Parallel()
	a := func(v string) string { return thing("a", "v", v) }
	again := func(t *testing.T, e *engine) { e.only.Replace = []string{"a"}; e.do(t, a("1")); e.only.Replace = nil }
	for name, c := range map[string]struct {
		there string // before it is declared
		then  func(t *testing.T, e *engine)
		want  bool
	}{
		"created":                  {"", nil, false},
		"there before":             {`{"v":1}`, nil, true},
		"there before, and other":  {`{"v":2}`, nil, true},
		"updated since":            {`{"v":1}`, func(t *testing.T, e *engine) { e.do(t, a("3")) }, true},
		"found again":              {`{"v":1}`, func(t *testing.T, e *engine) { e.do(t, a("1")) }, true},
		"deleted, and created":     {`{"v":1}`, func(t *testing.T, e *engine) { e.world.Set("a", ""); e.do(t, a("1")) }, false},
		"replaced":                 {`{"v":1}`, again, false},
		"created, and found later": {"", func(t *testing.T, e *engine) { e.world.Set("a", ""); e.do(t, a("1")); e.do(t, a("1")) }, false},
		"moved": {`{"v":1}`, func(t *testing.T, e *engine) {
			e.world.Set("b", `{"v":1}`)
			e.do(t, thing("b", "v", "1")+moveAtoB)
			e.world.Set("a", `{"v":1}`)
			e.do(t, thing("a", "v", "1")+"moved {\n  from = resource.b\n  to = resource.a\n}\n")
		}, true},
		"recorded only": {"", func(t *testing.T, e *engine) {
			e.do(t, "")
			e.world.Set("a", `{"v":1}`)
			e.only.RefreshOnly = true
			e.do(t, a("1"))
			e.only.RefreshOnly = false
		}, true},
		"its update failed": {`{"v":2}`, func(t *testing.T, e *engine) {
			e.do(t, "removed {\n  from = resource.a\n  lifecycle {\n    destroy = false\n  }\n}\n")
			e.world.Fail("a", true)
			e.do(t, a("5"))
			e.world.Fail("a", false)
			e.do(t, a("5"))
		}, true},
		"its create failed first": {"", func(t *testing.T, e *engine) {
			e.do(t, "")
			e.world.Fail("a", true)
			e.do(t, a("5"))
			e.world.Fail("a", false)
			e.world.Set("a", `{"v":4}`) // a part of it was created
			e.do(t, a("5"))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			if c.there != "" {
				e.world.Set("a", c.there)
			}
			e.do(t, a("1"))
			if c.then != nil {
				c.then(t, e)
			}
			entry, known := e.recorded(t).Resources["a"]
			if !known || entry.Adopted != c.want {
				t.Errorf("recorded %v, adopted %v, want %v", known, entry.Adopted, c.want)
			}
			p, err := e.plan("")
			if err != nil {
				t.Fatal(err)
			}
			counted := p.Summary.DestroyAdopted
			if step := p.Resources["a"]; step.Change() != plan.Destroy || step.NotCreated() != c.want || p.Summary.Destroy != 1 || (counted == 1) != c.want {
				t.Errorf("%s, not created %v, %+v", step.Change(), step.NotCreated(), p.Summary)
			}
		})
	}
}

// What is destroyed to be created again counts too, also where nothing is recorded of it, and
// by an action of its type.
func TestAdopted_ReplacedCounts(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.world.Set("a", `{"v":1}`)
	for _, recorded := range []bool{false, true} {
		e.only.Replace = []string{"a"}
		p, err := e.plan(thing("a", "v", "1"))
		if err != nil {
			t.Fatal(err)
		}
		if p.Summary.Replace != 1 || p.Summary.DestroyAdopted != 1 || !p.Resources["a"].DestroysAdopted() {
			t.Errorf("recorded %v: %+v", recorded, p.Summary)
		}
		e.only.Replace = nil
		e.do(t, thing("a", "v", "1"))
	}
}

// A watch destroys nothing that deployster did not create, whatever is approved.
func TestAdopted_NeverDestroyedByAWatch(t *testing.T) {
	t.Parallel()
	all := []plan.Change{plan.Create, plan.Update, plan.Replace, plan.Destroy, plan.Forget, plan.Deferred, repair.Kind}
	for _, there := range []string{"", `{"v":1}`} {
		e := newEngine(t.TempDir())
		e.world.Set("a", there)
		e.do(t, thing("a", "v", "1"))
		p, err := e.plan("")
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.load("")
		if err != nil {
			t.Fatal(err)
		}
		policy := repair.Policy{Manifest: m, Whole: true, Kinds: all, Prior: e.recorded(t)}
		if refused := policy.NotCovered(p)["a"]; (refused != "") != (there != "") || there != "" && !strings.Contains(refused, "did not create") {
			t.Errorf("there before %q: %q", there, refused)
		}
	}
}

// What is replaced only in the middle of an apply is asked about as what deployster did not
// create, and a watch may not do it.
func TestAdopted_FoundDestructiveDuringApply(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	destructive := false
	s := &scripted{answer: func(_ protocol.StateInput, args []string) (string, int) {
		if destructive {
			return `{"status":"STALE","staleState":{},"actions":[{"name":"recreate","args":["recreate"],"destructive":true}]}`, 0
		}
		return `{"status":"VALID","state":{}}`, 0
	}}
	e.fake.Add("test/d:1", s.program)
	source := func(v string) string {
		return thing("a", "v", v) + replaced(thing("d", "v", "resource.a.state.v"), "test/thing", "test/d")
	}
	e.do(t, source("1"))
	if !e.recorded(t).Resources["d"].Adopted {
		t.Fatal("d is not adopted")
	}
	var asked []apply.Question
	e.opts.Deferred = apply.DeferredAsk
	e.opts.Ask = func(_ context.Context, q apply.Question) (apply.Answer, error) {
		asked = append(asked, q)
		return apply.No, nil
	}
	p, err := e.plan(source("2"))
	if err != nil {
		t.Fatal(err)
	}
	destructive = true
	if _, err := e.apply(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 1 || !asked[0].Now.NotCreated() {
		t.Errorf("%s", encode(asked))
	}
	if p, err := e.plan(source("1")); err != nil || !p.Resources["d"].NotCreated() || p.Summary.DestroyAdopted != 1 {
		t.Errorf("planned: %v %s", err, encode(p))
	}
	m, err := e.load(source("2"))
	if err != nil {
		t.Fatal(err)
	}
	policy := repair.Policy{Manifest: m, Prior: e.recorded(t)}
	if policy.MayRun("d", asked[0].Now.Answer().Actions) || !policy.MayRun("a", asked[0].Now.Answer().Actions) {
		t.Error("a watch may run what destroys d, or may not run what destroys a")
	}
}
