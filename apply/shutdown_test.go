package apply_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/protocol"
)

// services is a world of services that must be stopped before they are changed.
// One that is stopped answers other actions than one that runs, as a real one
// does: it has to be started too.
type services struct {
	mu     sync.Mutex
	have   map[string]string // name -> config; "" = not there
	down   map[string]bool
	fail   map[string]bool // whose stop exits 4
	still  map[string]bool // which need no stop
	log    []string
	before func(name, action string)
}

func newServices(e *engine) *services {
	s := &services{have: map[string]string{}, down: map[string]bool{}, fail: map[string]bool{}, still: map[string]bool{}}
	e.fake.Add("test/svc:1", s.program)
	return s
}

func (s *services) program(_ context.Context, spec runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	text, err := io.ReadAll(stdin)
	var in protocol.ActionInput
	if err != nil || json.NewDecoder(bytes.NewReader(text)).Decode(&in) != nil {
		return 90
	}
	if len(spec.Args) == 0 {
		_, _ = io.WriteString(stdout, `{"protocol":2,"absent":true,"state_action":{"args":["state"]}}`)
		return 0
	}
	verb := spec.Args[0]
	if verb != "state" && s.before != nil {
		s.before(in.Name, verb)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if verb == "state" {
		_, _ = io.WriteString(stdout, s.answer(in.StateInput))
		return 0
	}
	if s.fail[in.Name] && verb == "stop" {
		_, _ = io.WriteString(stderr, "it does not stop\n")
		return 4
	}
	s.log = append(s.log, verb+" "+in.Name)
	switch verb {
	case "stop":
		s.down[in.Name] = true
	case "change":
		s.have[in.Name], s.down[in.Name] = string(in.Config), false
	case "start":
		s.down[in.Name] = false
	case "remove":
		delete(s.have, in.Name)
	}
	return 0
}

func (s *services) answer(in protocol.StateInput) string {
	have, wanted := s.have[in.Name], string(in.Config)
	actions := `{"name":"change","args":["change"]}`
	if in.Intent == protocol.Absent {
		wanted, actions = "", `{"name":"remove","args":["remove"]}`
	}
	switch {
	case have == "" && wanted == "":
		return `{"status":"MISSING"}`
	case have == "":
		return `{"status":"STALE","actions":[` + actions + `]}`
	case have == wanted && !s.down[in.Name]:
		return `{"status":"VALID","state":` + have + `}`
	case strings.Contains(have, "broken"):
		return `{"status":"STALE","staleState":{"broken":true},"actions":[{"name":"repair","args":["repair"]}]}`
	case s.down[in.Name] || s.still[in.Name]:
		return fmt.Sprintf(`{"status":"STALE","staleState":{"down":true,"config":%s},"actions":[%s,{"name":"start","args":["start"]}]}`, have, actions)
	}
	return fmt.Sprintf(`{"status":"STALE","staleState":%s,"actions":[%s],"shutdown_first":{"name":"stop","args":["stop"]}}`, have, actions)
}

func (s *services) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := strings.Join(s.log, ", ")
	s.log = nil
	return log
}

// service writes a resource block that waits for others.
func service(name, v string, after ...string) string {
	for i := range after {
		after[i] = "resource." + after[i]
	}
	return fmt.Sprintf("resource %q {\n  type = \"test/svc:1\"\n  depends_on = [%s]\n  config = { v = %s }\n}\n", name, strings.Join(after, ", "), v)
}

// When a shutdown_first has run, its image answers other actions than were
// shown, because of it. What was shown is done: it was meant to follow it.
func TestShutdown_WhatWasShownIsDoneAfterIt(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	s := newServices(e)
	source := func(v string) string { return service("disk", v) + service("db", v, "disk") + service("app", v, "db") }
	e.do(t, source("1"))
	s.take()
	report := e.do(t, source("2"))
	if got, want := s.take(), "stop app, stop db, stop disk, change disk, change db, change app"; got != want || report.Status != apply.OK {
		t.Errorf("%s: %s; want %s", report.Status, got, want)
	}
	for _, r := range report.Shutdown {
		if r.Late || r.Status != apply.OK {
			t.Errorf("%+v", r)
		}
	}
	report = e.do(t, "")
	if got, want := s.take(), "stop app, stop db, stop disk, remove app, remove db, remove disk"; got != want || report.Status != apply.OK {
		t.Errorf("%s: %s; want %s", report.Status, got, want)
	}
}

// But when something else than the shutdown has changed it meanwhile, the plan
// is stale.
func TestShutdown_StrangerIsNoticedAfterIt(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	s := newServices(e)
	e.do(t, service("a", "1")+service("b", "1"))
	s.take()
	s.before = func(name, action string) {
		if name == "a" && action == "change" { // after both were stopped
			s.mu.Lock()
			defer s.mu.Unlock()
			s.have["b"] = `{"v":"broken"}`
		}
	}
	e.opts.Parallelism = 1
	report := e.do(t, service("a", "2")+service("b", "2"))
	b := report.Resources["b"]
	if got := s.take(); got != "stop a, stop b, change a" {
		t.Error(got)
	}
	if b.Status != apply.Error || !strings.HasPrefix(b.Reason, "plan is stale") || len(b.Stale) == 0 || len(report.Shutdown) != 2 {
		t.Errorf("%s", encode(report))
	}
}

// What something has started again since is stopped again.
func TestShutdown_StopsAgainWhatWasStartedAgain(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	s := newServices(e)
	e.do(t, service("a", "1")+service("b", "1"))
	s.take()
	s.before = func(name, action string) {
		if name == "a" && action == "change" {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.down["b"] = false
		}
	}
	e.opts.Parallelism = 1
	report := e.do(t, service("a", "2")+service("b", "2"))
	if got := s.take(); got != "stop a, stop b, change a, stop b, change b" || report.Status != apply.OK {
		t.Errorf("%s: %s", got, encode(report))
	}
	if n := len(report.Shutdown); n != 3 || !report.Shutdown[2].Late {
		t.Errorf("%+v", report.Shutdown)
	}
}

// One that need not be stopped any more is not; one that was not to be stopped,
// and now is, makes the plan stale.
func TestShutdown_IsNotWhatWasShown(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	s := newServices(e)
	e.do(t, service("a", "1"))
	s.still["a"] = true
	p, err := e.plan(service("a", "2"))
	if err != nil {
		t.Fatal(err)
	}
	s.take()
	s.still["a"] = false
	report, err := e.apply(t.Context(), p)
	if a := report.Resources["a"]; err != nil || a.Status != apply.Error || len(a.Stale) == 0 || s.take() != "" {
		t.Errorf("not shown: %v %s", err, encode(report))
	}
	if p, err = e.plan(service("a", "2")); err != nil {
		t.Fatal(err)
	}
	s.have["a"] = `{"v":2}` // somebody has done it by hand
	if report, err = e.apply(t.Context(), p); err != nil || report.Resources["a"].Status != apply.Skipped || s.take() != "" || len(report.Shutdown) > 0 {
		t.Errorf("right already: %v %s", err, encode(report))
	}
}

// A deferred resource could not be asked before: its shutdown_first runs right
// before its own actions, and is marked.
func TestShutdown_Late(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	s := newServices(e)
	s.have["b"] = `{"v":"old"}` // it exists, and nobody knows it yet
	var late []string
	e.opts.Events = func(ev apply.Event) {
		if a, ok := ev.(apply.ActionStarted); ok && a.Late {
			late = append(late, a.Address+" "+a.Action)
		}
	}
	e.opts.Parallelism = 1
	report := e.do(t, service("a", "1")+service("b", "resource.a.state.v"))
	if got := s.take(); got != "change a, stop b, change b" || report.Status != apply.OK {
		t.Errorf("%s: %s", got, encode(report))
	}
	if want := []apply.ShutdownReport{{Resource: "b", Action: "stop", Status: apply.OK, Late: true}}; !slices.Equal(report.Shutdown, want) || !slices.Equal(late, []string{"b stop"}) {
		t.Errorf("%+v, events %v", report.Shutdown, late)
	}
}

// A shutdown that fails, or that is not approved, is the end: all else was to
// come after it.
func TestShutdown_NothingFollowsAFailedOne(t *testing.T) {
	t.Parallel()
	for _, declined := range []bool{false, true} {
		e := newEngine(t.TempDir())
		s := newServices(e)
		e.do(t, service("a", "1")+service("b", "1", "a")+service("c", "1"))
		s.take()
		e.opts.KeepGoing = true
		if declined {
			p := &person{answers: []apply.Answer{no, yes, yes}}
			e.opts.Confirm, e.opts.Ask = apply.ConfirmAction, p.ask
		} else {
			s.fail["b"], s.fail["a"], s.fail["c"] = true, true, true
		}
		report := e.do(t, service("a", "2")+service("b", "2", "a")+service("c", "2"))
		counts, want := report.Counts(), apply.Error
		if declined {
			want = apply.Incomplete
		}
		if got := s.take(); got != "" || report.Status != want || counts[apply.OK] > 0 {
			t.Errorf("declined %v: %q %s", declined, got, encode(report))
		}
		for addr, res := range report.Resources {
			if res.Reason == "" || !slices.Equal(res.NotAttempted, []string{"change"}) {
				t.Errorf("declined %v: %s: %s", declined, addr, encode(res))
			}
		}
	}
}

// A yes to a resource is a yes to its shutdown too: it is not asked twice.
func TestShutdown_IsPromptedAboutOnce(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	s := newServices(e)
	e.do(t, service("a", "1")+service("b", "1", "a"))
	s.take()
	p := &person{answers: []apply.Answer{yes, yes, yes, yes}}
	e.opts.Confirm, e.opts.Ask = apply.ConfirmResource, p.ask
	report := e.do(t, service("a", "2")+service("b", "2", "a"))
	if got := s.take(); got != "stop b, stop a, change a, change b" || !slices.Equal(p.asked, []string{"update b", "update a"}) || report.Status != apply.OK {
		t.Errorf("%s, asked %q: %s", got, p.asked, encode(report))
	}
}

// What was shown to come after a shutdown_first is run, with the arguments that are known
// then. Another action is not, and neither is one that was not shown to destroy what exists.
func TestShutdown_NothingElseIsDestroyedAfterIt(t *testing.T) {
	t.Parallel()
	const late = "resource.a.state.v" // is not known before a is there
	for name, c := range map[string]struct {
		v, fill  string // what it takes, and how it is filled once it is empty
		deferred apply.Deferred
		done     string
	}{
		"known":                       {"2", `{"name":"fill","args":["fill"]}`, apply.DeferredStop, "drain fill"},
		"known, and it destroys":      {"2", `{"name":"fill","args":["fill"],"destructive":true}`, apply.DeferredStop, "drain"},
		"not known":                   {late, `{"name":"fill","args":["fill"]}`, apply.DeferredStop, "drain fill"},
		"other arguments":             {late, `{"name":"fill","args":["fill","2"]}`, apply.DeferredStop, "drain fill"},
		"another entrypoint":          {late, `{"name":"fill","entrypoint":"/wipe","args":["fill"]}`, apply.DeferredStop, "drain"},
		"another image":               {late, `{"name":"fill","image":"tools:2","args":["fill"]}`, apply.DeferredStop, "drain"},
		"it destroys":                 {late, `{"name":"fill","args":["fill"],"destructive":true}`, apply.DeferredStop, "drain"},
		"it destroys, by kinds":       {late, `{"name":"fill","args":["fill"],"destructive":true}`, apply.DeferredByKinds, "drain"},
		"other arguments, by kinds":   {late, `{"name":"fill","args":["fill","2"]}`, apply.DeferredByKinds, "drain fill"},
		"it destroys, and all may be": {late, `{"name":"fill","args":["fill"],"destructive":true}`, apply.DeferredApply, "drain fill"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, have, empty := newEngine(t.TempDir()), "", false
			e.opts.Deferred, e.opts.Kinds = c.deferred, []plan.Change{plan.Create, plan.Update, plan.Deferred}
			b := &scripted{init: `"unknowns":true,`}
			b.answer = func(in protocol.StateInput, args []string) (string, int) {
				const fill = `"actions":[{"name":"fill","args":["fill"]}]`
				switch {
				case args[0] == "drain":
					have, empty = "", true
				case args[0] == "fill":
					have, empty = string(in.Config), false
				case empty && len(in.Unknown) == 0:
					return `{"status":"STALE","actions":[` + c.fill + `]}`, 0
				case have == "":
					return `{"status":"STALE",` + fill + `}`, 0
				case have == string(in.Config):
					return `{"status":"VALID","state":{}}`, 0
				default:
					return `{"status":"STALE","staleState":{},` + fill + `,"shutdown_first":{"name":"drain","args":["drain"]}}`, 0
				}
				return "", 0
			}
			e.fake.Add("test/b:1", b.program)
			tank := func(v string) string {
				return "resource \"b\" {\n  type = \"test/b:1\"\n  config = { v = " + v + " }\n}\n"
			}
			e.do(t, tank("1"))
			b.acted = nil
			report := e.do(t, thing("a", "v", "2")+tank(c.v))
			if done := strings.Join(b.acted, " "); done != c.done {
				t.Errorf("done %q, want %q", done, c.done)
			}
			if res := report.Resources["b"]; (res.Status == apply.OK) != strings.HasSuffix(c.done, "fill") {
				t.Errorf("b is %s: %s", res.Status, res.Reason)
			}
			told := strings.Contains(report.Problems.Error()+encode(report.Resources["b"]), "(destroys what exists)")
			if told != (strings.Contains(c.fill, "destructive") && c.done == "drain") {
				t.Errorf("that it destroys what exists is told: %v\n%s", told, report.Problems)
			}
		})
	}
}
