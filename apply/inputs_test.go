package apply_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"deployster/internal/runtime/remote/router"
	"deployster/plan"
	"deployster/plan/drift"
	"deployster/plan/inputs"
	"deployster/plan/repair"
	"deployster/protocol"
	"deployster/state"
)

// picky is a type whose resource is VALID as long as right, whatever it is given.
type picky struct {
	*engine
	scripted
	right bool
}

func newPicky(t *testing.T) *picky {
	p := &picky{engine: newEngine(t.TempDir()), right: true}
	p.init = `"dependencies":true,"refresh":true,`
	p.answer = func(_ protocol.StateInput, args []string) (string, int) {
		switch {
		case args[0] != "state":
			p.right = true
			return "", 0
		case p.right:
			return `{"status":"VALID","state":{}}`, 0
		}
		return `{"status":"STALE","staleState":{},"actions":[{"name":"fix","args":["fix"]}]}`, 0
	}
	p.fake.Add("test/picky:1", p.program)
	return p
}

// pickyOne declares a picky resource, with more in its type block and in its own.
func pickyOne(ofType, own string) string {
	return "type \"t\" {\n  image = \"test/picky:1\"\n" + ofType + "\n}\n" +
		"resource \"a\" {\n  type = type.t\n" + own + "\n  config = {}\n}\n"
}

// A STALE resource has drifted only if its type is given the same as when it was VALID. Plans,
// reports of drift and approvals agree about that.
func TestInputs_ThatHaveChangedAreNotDrift(t *testing.T) {
	t.Parallel()
	const dep = "  dependencies = { d = resource.dep }\n"
	kernel := func(version string) func(*testing.T, *picky) {
		return func(_ *testing.T, p *picky) {
			p.pins = map[string]router.Pin{"h": {Machine: "m", Facts: &protocol.HostFacts{Machine: "m", Kernel: version}}}
		}
	}
	host := "host \"h\" {\n  address = \"h.example\"\n}\n"
	for name, c := range map[string]struct {
		first, then string
		before      func(*testing.T, *picky)
		between     func(*testing.T, *picky)
		want        string // changed inputs of the plan
		drifts      bool
		report      drift.Status
	}{
		"nothing":       {pickyOne("", ""), pickyOne("", ""), nil, nil, "", true, drift.Drifted},
		"another env":   {pickyOne("  env = { A = \"1\" }", ""), pickyOne("  env = { A = \"2\" }", ""), nil, nil, "env A", false, drift.Changed},
		"its network":   {pickyOne("", ""), pickyOne("  network = \"none\"", ""), nil, nil, "setting network", false, drift.Changed},
		"its user":      {pickyOne("", ""), pickyOne("  user = \"1000\"", ""), nil, nil, "setting user", false, drift.Changed},
		"another image": {pickyOne("", ""), pickyOne("", ""), nil, func(_ *testing.T, p *picky) { p.fake.AddDigest("test/picky:1", "sha256:2", p.program) }, "image", false, drift.Changed},
		"its config":    {pickyOne("", ""), replaced(pickyOne("", ""), "{}", "{ x = 1 }"), nil, nil, "config", false, drift.Changed},
		"the state of a dependency": {thing("dep", "v", "1") + pickyOne("", dep), thing("dep", "v", "2") + pickyOne("", dep), nil,
			func(t *testing.T, p *picky) {
				p.only.Targets = []string{"dep"}
				p.do(t, thing("dep", "v", "2")+pickyOne("", dep))
			}, "dependency dep", false, drift.Changed},
		"a dependency, which stays": {thing("dep", "v", "1") + pickyOne("", dep), thing("dep", "v", "1") + pickyOne("", dep), nil, nil, "", true, drift.Drifted},
		"a pending reload": {thing("dep", "v", "1") + pickyOne("", "  subscribe = [resource.dep]"),
			thing("dep", "v", "2") + pickyOne("", "  subscribe = [resource.dep]"), nil,
			func(t *testing.T, p *picky) {
				p.only.Targets = []string{"dep"}
				p.do(t, thing("dep", "v", "2")+pickyOne("", "  subscribe = [resource.dep]"))
			}, "refresh_pending dep", false, drift.Drifted}, // the type is not notified by drift, so that it is STALE is drift
		"the kernel of its host": {host + pickyOne("", "  host = host.h"), host + pickyOne("", "  host = host.h"), kernel("6.1"), kernel("6.2"), "host_facts kernel", false, drift.Changed},
		"its host, which stays":  {host + pickyOne("", "  host = host.h"), host + pickyOne("", "  host = host.h"), kernel("6.1"), kernel("6.1"), "", true, drift.Drifted},
	} {
		t.Run(name, func(t *testing.T) {
			e := newPicky(t)
			if c.before != nil {
				c.before(t, e)
			}
			if r := e.do(t, c.first); r.Status != "ok" {
				t.Fatal(encode(r))
			}
			if c.between != nil {
				c.between(t, e)
			}
			e.right, e.only.Targets = false, nil
			p, err := e.plan(c.then)
			if err != nil {
				t.Fatal(err)
			}
			step := p.Resources["a"]
			if got := inputWords(step.Inputs()); step.Change() != plan.Update || got != c.want || step.Drifted() != c.drifts {
				t.Errorf("%s: inputs %q, drifted %v", step.Change(), got, step.Drifted())
			}
			if got := repair.Answered(step, e.recorded(t).Resources["a"]); got != c.drifts {
				t.Errorf("an approval of drift covers it: %v", got)
			}
			if len(e.pins) > 0 {
				return // drift of hosts is the same code
			}
			if _, r, diags := e.drift(t, c.then, plan.Selection{}); r == nil || r.Resources["a"].Status != c.report {
				t.Errorf("drift: %s %v", encode(r), diags)
			}
		})
	}
}

// inputWords lists changed inputs in short.
func inputWords(list []inputs.Change) string {
	var all []string
	for _, c := range list {
		all = append(all, strings.TrimSpace(fmt.Sprint(c.What, " ", strings.Join(c.Names, " "))))
	}
	return strings.Join(all, ", ")
}

// A pending notification is reported by drift of a resource that is VALID, and is covered by
// an approval of drift only where a watch has repaired what it is about.
func TestInputs_OfAPendingNotification(t *testing.T) {
	t.Parallel()
	for _, watch := range []bool{false, true} {
		s := newDaemon(t)
		s.do(t, site("1", "1"))
		s.only.Targets = []string{"conf"}
		s.do(t, site("2", "1"))
		s.only.Targets = nil
		prior := s.recorded(t)
		if _, r, _ := s.drift(t, site("2", "1"), plan.Selection{}); r.Resources["web"].Status != drift.None ||
			inputWords(r.Resources["web"].Inputs) != "refresh_pending conf" || r.Resources["web"].Reason == "" {
			t.Error(encode(r))
		}
		if watch {
			store, err := state.Open(t.Context(), state.File(s.statePath()), state.Options{Command: "test"})
			if err != nil {
				t.Fatal(err)
			}
			prior.Applied[len(prior.Applied)-1].Watch = true
			if err := errors.Join(store.Replace(prior), store.Close()); err != nil {
				t.Fatal(err)
			}
		}
		p, err := s.plan(site("2", "1"))
		if err != nil {
			t.Fatal(err)
		}
		web := p.Resources["web"]
		if web.Drifted() || repair.Answered(web, prior.Resources["web"]) != watch {
			t.Errorf("by a watch %v: %s", watch, encode(web))
		}
	}
}
