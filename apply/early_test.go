package apply_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/protocol"
)

// gate is a world of two types: a is made, or changed to the v of its config, and b is what waits for it.
type gate struct {
	*engine
	mu      sync.Mutex
	a       string // the v of a; "" = it does not exist
	early   string // what b answers to a query before a is done; "" = it fails
	later   string // what b answers after that, until an action on b has ended
	acted   bool
	queries int // of b
	b       *scripted
}

const (
	absentB   = `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`
	staleB    = `{"status":"STALE","staleState":{},"actions":[{"name":"fix","args":["fix"]}]}`
	renewedB  = `{"status":"STALE","staleState":{},"actions":[{"name":"renew","args":["renew"],"destructive":true}]}`
	validB    = `{"status":"VALID","state":{}}`
	twoStepsB = `{"status":"STALE","actions":[{"name":"begin","args":["begin"]},{"name":"make","args":["make"]}]}`
)

// newGate makes one in which b says of itself what init has.
func newGate(t *testing.T, init string) *gate {
	g := &gate{engine: newEngine(t.TempDir())}
	a := &scripted{init: `"state_schema":{"type":"object","properties":{"v":{"type":"string"}}},`}
	a.answer = func(in protocol.StateInput, args []string) (string, int) {
		g.mu.Lock()
		defer g.mu.Unlock()
		want := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(string(in.Config), `{"v":`), "}"), `"`)
		switch {
		case args[0] != "state":
			g.a = want
			return "", 0
		case g.a == "":
			return absentB, 0
		case g.a != want:
			return staleB, 0
		}
		return `{"status":"VALID","state":{"v":"` + g.a + `"}}`, 0
	}
	g.b = &scripted{init: init}
	g.b.answer = func(_ protocol.StateInput, args []string) (string, int) {
		g.mu.Lock()
		defer g.mu.Unlock()
		if args[0] != "state" {
			g.acted = args[0] != "begin"
			return "", 0
		}
		g.queries++
		answer := g.early
		if g.a == "2" {
			answer = g.later
		}
		if g.acted {
			answer = validB
		}
		if answer == "" {
			return "", 1
		}
		return answer, 0
	}
	g.fake.Add("test/a:1", a.program)
	g.fake.Add("test/b:1", g.b.program)
	return g
}

// source declares a, and b with these attributes.
func (g *gate) source(b string) string {
	return "resource \"a\" {\n  type = \"test/a:1\"\n  config = { v = \"2\" }\n}\nresource \"b\" {\n  type = \"test/b:1\"\n" + b + "\n}\n"
}

const inOrder = "  config = {}\n  depends_on = [resource.a]"

// A resource that only waits in order is planned with what its image answers early, if its type can be queried ahead.
func TestEarly_IsPlanned(t *testing.T) {
	t.Parallel()
	const ahead = `"unknowns":true,`
	const missing = "create early: resource.a does not exist yet"
	for name, c := range map[string]struct {
		init, a, b, early string
		want              string // how b is planned; "error" = there is no plan
		queries           int
		open              string // what the plan leaves open
	}{
		"it does not exist":        {ahead, "", inOrder, absentB, missing, 1, ""},
		"it differs":               {ahead, "", inOrder, staleB, "update early adopted: resource.a does not exist yet", 1, ""},
		"it is destroyed":          {ahead, "", inOrder, renewedB, "replace early adopted: resource.a does not exist yet", 1, ""},
		"it is VALID":              {ahead, "", inOrder, validB, "valid may adopted: resource.a does not exist yet", 1, "b"},
		"it cannot answer":         {ahead, "", inOrder, "", "deferred(create): resource.a does not exist yet, and its type could not answer before that", 1, "b"},
		"it answers with an error": {ahead, "", inOrder, `{"error":{"class":"config","message":"no a"}}`, "deferred(create): resource.a does not exist yet, and its type could not answer before that", 1, "b"},
		"its type is not asked":    {"", "", inOrder, absentB, "deferred(create): resource.a does not exist yet", 0, "b"},
		"it takes what is not known": {ahead, "", "  config = { v = resource.a.state.v }", absentB,
			"deferred(create): resource.a does not exist yet", 1, "b"},
		"it takes what is known": {ahead, "", "  config = { v = resource.a.config.v }", absentB, "deferred(create): resource.a does not exist yet", 1, "b"},
		"it takes and fails":     {ahead, "", "  config = { v = resource.a.config.v }", "", "error", 1, ""},
		"it is read only":        {ahead, "", inOrder + "\n  read_only = true", absentB, "deferred: resource.a does not exist yet", 1, ""},
		"it must be new":         {ahead, "", inOrder + "\n  lifecycle {\n    adopt = false\n  }", validB, "error", 1, ""},
		"it is protected":        {ahead, "", inOrder + "\n  lifecycle {\n    prevent_destroy = true\n  }", renewedB, "error", 1, ""},

		"a is updated":                {ahead, "1", inOrder, absentB, "create early: resource.a will be updated", 1, ""},
		"a is updated, it is VALID":   {ahead, "1", inOrder, validB, "valid may adopted: resource.a will be updated", 1, "b"},
		"a is updated, it fails":      {ahead, "1", inOrder, "", "error", 1, ""},
		"a is updated, not asked":     {"", "1", inOrder, absentB, "create may: resource.a will be updated", 1, "b"},
		"a is updated, a value of it": {ahead, "1", "  config = { v = resource.a.config.v }", absentB, "create may: resource.a will be updated", 1, "b"},
		"a is unchanged":              {ahead, "2", inOrder, absentB, "create", 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGate(t, c.init)
			g.a, g.early, g.later = c.a, c.early, c.early
			p, err := g.plan(g.source(c.b))
			got := "error"
			if err == nil {
				got = planned(p.Resources["b"])
			} else if c.want != "error" {
				t.Error(err)
			}
			if got != c.want || g.queries != c.queries {
				t.Errorf("it is %q after %d queries, want %q", got, g.queries, c.want)
			}
			if err == nil {
				if open := strings.Join(p.LeftOpen(), " "); open != strings.TrimSpace(c.open) {
					t.Errorf("open is %q, want %q", open, c.open)
				}
			}
		})
	}
}

// planned writes down how a step is planned.
func planned(s *plan.Step) string {
	words := string(s.Shown())
	if s.Expected() != "" {
		words += fmt.Sprintf("(%s)", s.Expected())
	}
	for word, is := range map[string]bool{" early": s.Certainty == plan.Early, " may": s.Certainty == plan.MayChange} {
		if is {
			words += word
		}
	}
	if s.Adopted() {
		words += " adopted"
	}
	if s.Reason != nil {
		words += ": " + s.Reason.Words()
	}
	return words
}

// At its turn a resource that was planned early is queried again: what was shown is run without a question, and
// -deferred decides about all else.
func TestEarly_IsQueriedAgainAtItsTurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		early, later string
		deferred     apply.Deferred
		kinds        []plan.Change
		answers      []apply.Answer // nil = nobody to ask
		asked        string
		status       apply.Status
		acted        string
	}{
		"the same":                    {absentB, absentB, apply.DeferredStop, nil, nil, "", apply.OK, "make"},
		"the same update":             {staleB, staleB, apply.DeferredStop, nil, nil, "", apply.OK, "fix"},
		"the same, asked about":       {absentB, absentB, apply.DeferredAsk, nil, []apply.Answer{}, "", apply.OK, "make"},
		"nothing":                     {absentB, validB, apply.DeferredStop, nil, nil, "", apply.Skipped, ""},
		"other, stop":                 {absentB, staleB, apply.DeferredStop, nil, nil, "", apply.NotStarted, ""},
		"other, apply":                {absentB, staleB, apply.DeferredApply, nil, nil, "", apply.OK, "fix"},
		"other, nobody to ask":        {absentB, staleB, apply.DeferredAsk, nil, nil, "", apply.NotStarted, ""},
		"other, yes":                  {absentB, staleB, apply.DeferredAskBeyond, nil, []apply.Answer{yes}, "update b late", apply.OK, "fix"},
		"other, no":                   {absentB, staleB, apply.DeferredAskBeyond, nil, []apply.Answer{no}, "update b late", apply.NotStarted, ""},
		"more of a creation, yes":     {absentB, twoStepsB, apply.DeferredAskBeyond, nil, []apply.Answer{yes}, "create b late", apply.OK, "begin make"},
		"other, its kind is approved": {absentB, staleB, apply.DeferredByKinds, []plan.Change{created, updated}, nil, "", apply.OK, "fix"},
		"other, another kind is":      {absentB, staleB, apply.DeferredByKinds, []plan.Change{created}, nil, "", apply.NotStarted, ""},
		"it destroys, all is applied": {absentB, renewedB, apply.DeferredApply, nil, nil, "", apply.OK, "renew"},
		"VALID no more, stop":         {validB, staleB, apply.DeferredStop, nil, nil, "", apply.NotStarted, ""},
		"VALID no more, yes":          {validB, staleB, apply.DeferredAsk, nil, []apply.Answer{yes}, "update b late", apply.OK, "fix"},
		"VALID still":                 {validB, validB, apply.DeferredStop, nil, nil, "", apply.Unchanged, ""},
		"it could not answer":         {"", absentB, apply.DeferredAskBeyond, nil, []apply.Answer{}, "", apply.OK, "make"},
		"it cannot answer":            {absentB, "", apply.DeferredApply, nil, nil, "", apply.Error, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, who := newGate(t, `"unknowns":true,`), &person{answers: c.answers}
			g.early, g.later, g.opts.Deferred, g.opts.Kinds = c.early, c.later, c.deferred, c.kinds
			if c.answers != nil {
				g.opts.Ask = who.ask
			}
			report := g.do(t, g.source(inOrder))
			if res := report.Resources["b"]; res.Status != c.status || strings.Join(who.asked, ", ") != c.asked {
				t.Errorf("b is %s (%s), asked %q", res.Status, res.Reason, who.asked)
			}
			if acted := strings.Join(g.b.acted, " "); acted != c.acted {
				t.Errorf("acted %q, want %q", acted, c.acted)
			}
			became := map[string]apply.Change{"fix": updated, "renew": plan.Replace}[c.acted] // else it is what was shown
			if got := report.Resources["b"].Became; c.early == absentB && got != became {
				t.Errorf("it became %q, want %q", got, became)
			}
			if g.a != "2" {
				t.Errorf("a is %q", g.a)
			}
			left := c.status == apply.NotStarted
			if left && len(c.answers) == 0 && !strings.Contains(report.Problems.Error(), "returned other actions now") && c.early != validB {
				t.Errorf("the problems are %v", report.Problems)
			}
			if left && report.Status == apply.OK {
				t.Error("the apply is ok, and has left something undone")
			}
		})
	}
}

// What waits for a resource that was planned early is planned early too, and a chain needs no question.
func TestEarly_InAChain(t *testing.T) {
	t.Parallel()
	g := newGate(t, `"unknowns":true,`)
	g.early, g.later, g.opts.Deferred = absentB, absentB, apply.DeferredStop
	c := &scripted{init: `"unknowns":true,`}
	made := false
	c.answer = func(_ protocol.StateInput, args []string) (string, int) {
		if args[0] != "state" {
			made = true
			return "", 0
		}
		if made {
			return validB, 0
		}
		return absentB, 0
	}
	g.fake.Add("test/c:1", c.program)
	p, err := g.plan(g.source(inOrder) + "resource \"c\" {\n  type = \"test/c:1\"\n  config = {}\n  depends_on = [resource.b]\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := planned(p.Resources["c"]); got != "create early: resource.b does not exist yet" || p.Summary.Create != 3 || p.Summary.Deferred != 0 {
		t.Errorf("c is %q: %+v", got, p.Summary)
	}
	report, err := g.apply(t.Context(), p)
	if err != nil || outcomes(report) != "ok a=ok b=ok c=ok" {
		t.Errorf("%s: %v", outcomes(report), err)
	}
}

// The rest of what was shown needs no question after the death of the run that began it.
func TestEarly_IsResumed(t *testing.T) {
	t.Parallel()
	g := newGate(t, `"unknowns":true,`)
	g.early, g.later, g.opts.Deferred = twoStepsB, twoStepsB, apply.DeferredStop
	p, err := g.plan(g.source(inOrder))
	if err != nil {
		t.Fatal(err)
	}
	step := p.Resources["b"]
	if step.Certainty != plan.Early || len(step.Answer().Actions) != 2 {
		t.Fatal(planned(step))
	}
	g.dieAfter(t, 5, p) // a: started, ended, VALID; b: begin started, ended
	g.later = absentB
	report, err := g.apply(t.Context(), p)
	if err != nil || report.Resources["b"].Status != apply.OK || strings.Join(g.b.acted, " ") != "begin make" {
		t.Errorf("acted %q: %v %v", g.b.acted, report, err)
	}
}
