package apply_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/state"
	"deployster/state/moves"
)

// facts is a journal that takes down in which order it was told what, and
// breaks when it is told of moves, if it is to.
type facts struct {
	apply.Journal
	mu    sync.Mutex
	told  []string
	broke bool
}

func (f *facts) tell(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = append(f.told, what)
}

func (f *facts) Moved(moves []moves.Move) error {
	f.tell(fmt.Sprint("moved ", moves))
	if f.broke {
		return errors.New("no disk")
	}
	return f.Journal.Moved(moves)
}

func (f *facts) ActionStarted(s state.Start) error {
	f.tell(s.Action + " " + s.Address)
	return f.Journal.ActionStarted(s)
}

const moveAtoB = `
moved {
  from = resource.a
  to   = resource.b
}
`

// Moves are on the disk before anything is started, and when they cannot be
// written nothing is started at all.
func TestMoves_ComeBeforeEverything(t *testing.T) {
	t.Parallel()
	for _, broke := range []bool{true, false} {
		e := newEngine(t.TempDir())
		e.do(t, thing("a", "v", "1")+thing("user", "v", "resource.a.state.v"))
		e.world.TakeLog()
		f := &facts{broke: broke}
		e.wrap = func(j apply.Journal) apply.Journal { f.Journal = j; return f }
		p, err := e.plan(thing("b", "v", "2") + thing("user", "v", "resource.b.state.v") + thing("new", "v", "3") + moveAtoB)
		if err != nil {
			t.Fatal(err)
		}
		report, err := e.apply(context.Background(), p)
		snapshot, _, loaded := state.Load(state.File(e.statePath()))
		if loaded != nil {
			t.Fatal(loaded)
		}
		_, atOld := snapshot.Resources["a"]
		if broke {
			if err == nil || report.Status != apply.Error || len(e.world.TakeLog()) > 0 || !atOld || len(f.told) != 1 || len(report.Moves) > 0 {
				t.Errorf("broken: %v, %s, told %v, a there: %v", err, report.Status, f.told, atOld)
			}
			continue
		}
		if err != nil || report.Status != apply.OK || len(f.told) < 3 || f.told[0] != "moved [{a b }]" || atOld {
			t.Errorf("%v, %s, told %v, a there: %v", err, report.Status, f.told, atOld)
		}
		if deps := snapshot.Resources["user"].Dependencies; !slices.Equal(deps, []string{"b"}) {
			t.Errorf("user depends on %v", deps)
		}
	}
}

// An apply that fails after its moves leaves them made; the next plan has none.
func TestMoves_StayWhenTheRestFails(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.do(t, thing("a", "v", "1"))
	source := thing("b", "v", "1") + moveAtoB
	e.world.Fail("b", true)
	p, err := e.plan(source)
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Resources["b"]; s.MovedFrom != "a" || p.Summary.Move != 1 || s.Change() != plan.Create { // the things of this world are known by their names
		t.Errorf("%+v, %+v", s, p.Summary)
	}
	if report, err := e.apply(context.Background(), p); err != nil || report.Status != apply.Error || len(report.Moves) != 1 {
		t.Fatalf("%v, %+v", err, report)
	}
	e.world.Fail("b", false)
	if p, err = e.plan(source); err != nil || len(p.Moves) > 0 || p.Resources["a"] != nil {
		t.Fatalf("%v, %+v", err, p)
	}
}

// A plan that moves is stale once one of the two addresses was recorded anew.
func TestMoves_AreStaleAfterAChangeOfEitherAddress(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]string{
		"the old address":   thing("a", "v", "2"),
		"the same move":     thing("b", "v", "1") + moveAtoB,
		"the new address":   thing("a", "v", "1") + thing("b", "v", "1"),
		"something besides": "",
	} {
		e := newEngine(t.TempDir())
		e.do(t, thing("a", "v", "1"))
		p, err := e.plan(thing("b", "v", "1") + moveAtoB)
		if err != nil {
			t.Fatal(err)
		}
		if between == "" {
			e.do(t, thing("a", "v", "1")+thing("c", "v", "1"))
		} else {
			e.do(t, between)
		}
		_, err = e.apply(context.Background(), p)
		if stale := err != nil && strings.Contains(err.Error(), "plan is stale"); stale != (between != "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const needy = `
resource "base" {
  type   = "test/thing:1"
  config = { v = %d }
  lifecycle {
    postcondition {
      condition     = self.state.v < 5
      error_message = "v is ${self.state.v}."
    }
  }
}
resource "top" {
  type   = "test/thing:1"
  config = { v = resource.base.state.v }
  lifecycle {
    precondition {
      condition     = resource.base.state.v < 3
      error_message = "base has ${resource.base.state.v}."
    }
  }
}
check "small" {
  assert {
    condition     = resource.top.state.v < 2
    error_message = "top is ${resource.top.state.v}."
  }
}
`

func TestConditions_AreCheckedDuringApply(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v         int
		base, top apply.Status
		failed    string
		check     string
		recorded  string
	}{
		{1, apply.OK, apply.OK, "", "pass []", "base top"},
		{2, apply.OK, apply.OK, "", "fail [top is 2.]", "base top"},
		{4, apply.OK, apply.Error, "precondition", "unknown []", "base"},
		{9, apply.Error, apply.NotStarted, "postcondition", "unknown []", "base"},
	} {
		e := newEngine(t.TempDir())
		report := e.do(t, fmt.Sprintf(needy, c.v))
		base, top := report.Resources["base"], report.Resources["top"]
		if base.Status != c.base || top.Status != c.top || base.Failed+top.Failed != c.failed {
			t.Errorf("v = %d: base %+v, top %+v", c.v, base, top)
		}
		if got := fmt.Sprint(report.Checks[0].Status, " ", report.Checks[0].Messages); got != c.check {
			t.Errorf("v = %d: %s, want %s", c.v, got, c.check)
		}
		snapshot, _, err := state.Load(state.File(e.statePath()))
		if err != nil {
			t.Fatal(err)
		}
		var recorded []string
		for addr := range snapshot.Resources {
			recorded = append(recorded, addr)
		}
		slices.Sort(recorded)
		if strings.Join(recorded, " ") != c.recorded || len(base.Completed) != 1 {
			t.Errorf("v = %d: recorded %v, completed %v", c.v, recorded, base.Completed)
		}
	}
}

// While what it depends on is only to be updated, a precondition is not held
// against what is there now.
func TestPreconditions_WaitForAnUpdateOfADependency(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.do(t, thing("base", "v", "1")+thing("top", "v", "1"))
	e.world.Set("base", `{"v":4}`)
	report := e.do(t, fmt.Sprintf(needy, 1))
	if report.Status != apply.OK {
		t.Errorf("%+v %v", report.Resources["top"], summaries(report.Problems))
	}
}

// What was to be changed and was not is not known to be anything: a check says
// nothing of it.
func TestChecks_ClaimNothingOfWhatFailed(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	if report := e.do(t, fmt.Sprintf(needy, 1)); report.Checks[0].Status != "pass" {
		t.Fatalf("%+v", report.Checks)
	}
	e.world.Fail("base", true)
	report := e.do(t, fmt.Sprintf(needy, 2))
	if report.Status != apply.Error || report.Checks[0].Status != "unknown" {
		t.Errorf("%s %+v", report.Status, report.Checks)
	}
}

// A moved block that the identity of a thing contradicts does not hold, and the plan warns of
// that with both addresses.
func TestMoved_OverruledByIdentity(t *testing.T) {
	t.Parallel()
	each := func(pairs string) string {
		return "resource \"s\" {\n  type = \"test/known:1\"\n  for_each = {" + pairs + "}\n  config = {\n    id = each.value\n  }\n}\n"
	}
	counted := "resource \"s\" {\n  type = \"test/known:1\"\n  count = 2\n  config = {\n    id = [\"x\", \"y\"][count.index]\n  }\n}\n"
	block := func(to string) string {
		return "moved {\n  from = resource.s[0]\n  to = resource.s[\"" + to + "\"]\n}\n"
	}
	for name, c := range map[string]struct {
		then string
		want string // of the warning's detail; "" = there is none
	}{
		"as the identity": {each(`a = "x", b = "y"`) + block("a"), ""},
		"to another":      {each(`a = "x", z = "y"`) + block("z"), `resource.s[0] to resource.s["z"], but it is the object of resource.s["a"] (by its identity)`},
		"to the object of another": {each(`z = "y"`) + block("z"),
			`resource.s[0] to resource.s["z"], but that is the object of resource.s[1] (by its identity)`},
		"to a new thing": {each(`z = "w"`) + block("z"), ""},
	} {
		e := newEngine(t.TempDir())
		e.fake.Add("test/known:1", e.known)
		e.do(t, counted)
		m, err := e.load(c.then)
		if err != nil {
			t.Fatal(err)
		}
		p, diags := plan.Build(t.Context(), m, e.recorded(t), e.client(nil), plan.Options{Version: "0.1.0", Workspace: e.dir, Parallelism: 4})
		if p == nil || diags.HasErrors() {
			t.Fatal(name, diags)
		}
		var got []string
		for _, d := range diags {
			got = append(got, d.Detail)
			if d.Range == nil || d.Range.Filename != "main.hcl" {
				t.Errorf("%s: it has no place: %+v", name, d)
			}
		}
		if len(got) > 1 || (len(got) == 1) != (c.want != "") || !strings.Contains(strings.Join(got, ""), c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
