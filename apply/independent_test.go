package apply_test

import (
	"strings"
	"sync"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/protocol"
)

// behind has a, which is updated in place, b, which takes values from it, and c, which takes one from b.
type behind struct {
	*engine
	mu       sync.Mutex
	b        *scripted
	forecast string // what a forecasts
	drifts   bool   // b needs a change once a is updated
	updated  bool
	repaired bool
	queries  int // of b
}

func newBehind(t *testing.T, init, forecast string) *behind {
	g := &behind{engine: newEngine(t.TempDir()), forecast: forecast, b: &scripted{init: init}}
	a, c := &scripted{}, &scripted{}
	a.answer = func(_ protocol.StateInput, args []string) (string, int) {
		g.mu.Lock()
		defer g.mu.Unlock()
		switch {
		case args[0] != "state":
			g.updated = true
			return "", 0
		case !g.updated:
			return `{"status":"STALE","staleState":{"id":"1","size":1},"actions":[{"name":"update","args":["update"]}]` + g.forecast + `}`, 0
		}
		return `{"status":"VALID","state":{"id":"1","size":2}}`, 0
	}
	g.b.answer = func(protocol.StateInput, []string) (string, int) {
		g.mu.Lock()
		defer g.mu.Unlock()
		switch g.queries++; {
		case g.drifts && g.updated && !g.repaired:
			g.repaired = true
			return `{"status":"STALE","staleState":{"v":"0"},"actions":[{"name":"repair","args":["repair"]}]}`, 0
		}
		return `{"status":"VALID","state":{"v":"1"}}`, 0
	}
	c.answer = func(protocol.StateInput, []string) (string, int) { return `{"status":"VALID","state":{}}`, 0 }
	g.fake.Add("test/a:1", a.program)
	g.fake.Add("test/b:1", g.b.program)
	g.fake.Add("test/c:1", c.program)
	return g
}

func (g *behind) source(b string) string {
	return "resource \"a\" {\n  type = \"test/a:1\"\n  config = {}\n}\nresource \"b\" {\n  type = \"test/b:1\"\n" + b +
		"\n}\nresource \"c\" {\n  type = \"test/c:1\"\n  config = { v = resource.b.state.v }\n}\n"
}

const ofID = "  config = { v = resource.a.state.id }"

func TestIndependent_StaysUnchangedBehindAForecast(t *testing.T) {
	t.Parallel()
	const element = `,"forecast":{"id":["x",null]},"unknown":["/id/1"]`
	const whole, part, independent = `,"forecast":{"id":"1","size":2}`, `,"forecast":{"size":2}`, `"independent":true,`
	for name, c := range map[string]struct{ init, forecast, b, want string }{
		"the value is forecast":       {independent, whole, ofID, "certain certain"},
		"in order only":               {independent, whole, inOrder, "certain certain"},
		"the value is not forecast":   {independent, part, ofID, "may may"},
		"its type is not independent": {"", whole, ofID, "may may"},
		"it subscribes":               {independent + `"refresh":true,`, whole, "  config = {}\n  subscribe = [resource.a]", "may may"},
		"it reads in order":           {independent, whole, inOrder + "\n  read_only = true", "may may"},
		"its element is forecast":     {independent, element, "  config = { v = resource.a.state.id[0] }", "certain certain"},
		"its element is not known":    {independent, element, "  config = { v = resource.a.state.id[1] }", "deferred deferred"},
		"it reads by a value":         {independent, whole, ofID + "\n  read_only = true", "certain certain"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newBehind(t, c.init, c.forecast)
			p, err := g.plan(g.source(c.b))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, addr := range []string{"b", "c"} {
				step := p.Resources[addr]
				switch {
				case step.Change() == plan.Valid && step.Certainty == plan.MayChange:
					got = append(got, "may")
				case step.Change() == plan.Valid && step.Certainty == plan.QueriedAgain:
					got = append(got, "certain")
				default:
					got = append(got, string(step.Change()))
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("they are %s, want %s", got, c.want)
			}
			if open := strings.Join(p.LeftOpen(), " "); open != "" && strings.HasPrefix(c.want, "certain") {
				t.Errorf("open are %s", open)
			}
		})
	}
}

// What a plan calls unchanged is queried again after the update, and is not changed without a question.
func TestIndependent_IsQueriedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		drifts bool
		policy apply.Deferred
		status apply.Status
		acted  string
	}{
		"it stays":                        {false, apply.DeferredStop, apply.OK, ""},
		"it changes, which is allowed":    {true, apply.DeferredApply, apply.OK, "repair"},
		"it changes, which was not shown": {true, apply.DeferredStop, apply.Incomplete, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newBehind(t, `"independent":true,`, `,"forecast":{"id":"1","size":2}`)
			g.drifts, g.opts.Deferred = c.drifts, c.policy
			p, err := g.plan(g.source(ofID))
			if err != nil {
				t.Fatal(err)
			}
			before := g.queries
			report, err := g.apply(t.Context(), p)
			if err != nil || report.Status != c.status || strings.Join(g.b.acted, " ") != c.acted || g.queries == before {
				t.Errorf("%s, acted %q, %d queries, %v: %v", report.Status, g.b.acted, g.queries-before, err, report.Problems)
			}
		})
	}
}

// A forecast that may differ is no promise.
func TestForecast_ThatMayDifferIsNotAFault(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]apply.Status{"": apply.Error, `,"forecast_may_differ":true`: apply.OK} {
		g := newBehind(t, "", `,"forecast":{"id":"1","size":3}`+flag)
		g.opts.Deferred = apply.DeferredApply
		p, err := g.plan(g.source(ofID))
		if err != nil {
			t.Fatal(err)
		}
		if report, err := g.apply(t.Context(), p); err != nil || report.Status != want {
			t.Errorf("with %q: %s, %v, %v", flag, report.Status, err, report.Problems)
		}
	}
}
