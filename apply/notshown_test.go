package apply_test

import (
	"strings"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/protocol"
)

// What is protected is not destroyed by an action that no plan has shown, and what the
// plan could not show is not done where it is not allowed.
func TestNotShown_IsNotDone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lifecycle string
		actions   string
		allowed   func(string, []protocol.Action) bool
		deferred  apply.Deferred
		done      string
	}{
		"destructive":                {"", `{"name":"renew","args":["renew"],"destructive":true}`, nil, apply.DeferredApply, "renew"},
		"destructive, and protected": {"prevent_destroy = true", `{"name":"renew","args":["renew"],"destructive":true}`, nil, apply.DeferredApply, ""},
		"destructive, made first":    {"create_before_destroy = true", `{"name":"renew","args":["renew"],"destructive":true}`, nil, apply.DeferredApply, ""},
		"harmless, and protected":    {"prevent_destroy = true", `{"name":"renew","args":["renew"]}`, nil, apply.DeferredApply, "renew"},
		"not allowed": {"", `{"name":"renew","args":["renew"]}`, func(addr string, list []protocol.Action) bool {
			return addr != "b" || list[0].Name != "renew"
		}, apply.DeferredByKinds, ""},
		"allowed": {"", `{"name":"renew","args":["renew"]}`, func(string, []protocol.Action) bool { return true }, apply.DeferredByKinds, "renew"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			e.opts.Allowed, e.opts.Deferred, e.opts.Kinds = c.allowed, c.deferred, []plan.Change{plan.Create, plan.Update, plan.Deferred}
			seen := ""
			b := &scripted{}
			b.answer = func(in protocol.StateInput, args []string) (string, int) {
				switch {
				case args[0] != "state":
					seen = string(in.Config)
					return "", 0
				case seen == "" || seen == string(in.Config):
					seen = string(in.Config)
					return `{"status":"VALID","state":{}}`, 0
				}
				return `{"status":"STALE","staleState":{},"actions":[` + c.actions + `]}`, 0
			}
			e.fake.Add("test/b:1", b.program)
			source := func(v string) string {
				return thing("a", "v", v) + "resource \"b\" {\n  type = \"test/b:1\"\n  config = {\n    v = resource.a.state.v\n  }\n  lifecycle {\n" +
					c.lifecycle + "\n  }\n}\n"
			}
			e.do(t, source("1"))
			report := e.do(t, source("2"))
			if done := strings.Join(b.acted, " "); done != c.done {
				t.Errorf("done %q, want %q", done, c.done)
			}
			if res := report.Resources["b"]; (res.Status == apply.OK) != (c.done != "") {
				t.Errorf("b is %s: %s", res.Status, res.Reason)
			}
		})
	}
}

// An action that failed without a word of what it made, though its type has to
// remember that, is not begun again by the same apply.
func TestRetry_NotAfterSilence(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	s := &scripted{init: `"memory":true,`, answer: func(_ protocol.StateInput, args []string) (string, int) {
		if args[0] == "make" {
			return "", 1
		}
		return `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`, 0
	}}
	e.fake.Add("test/a:1", s.program)
	report := e.do(t, tried)
	if a := report.Resources["a"]; a.Status != apply.Error || len(s.acted) != 1 {
		t.Errorf("acted %q: %s", s.acted, encode(a))
	}
}

// What cannot be asked again after a removal of its kind is not taken for right.
func TestRemoval_WhatCannotBeQueriedAfterIt(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]bool{"it can be asked": false, "it cannot be asked": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			removed, s := false, &scripted{}
			s.answer = func(in protocol.StateInput, args []string) (string, int) {
				switch {
				case args[0] != "state":
					removed = true
					return "", 0
				case in.Intent == protocol.Absent && removed:
					return `{"status":"MISSING"}`, 0
				case in.Intent == protocol.Absent:
					return `{"status":"STALE","staleState":{},"actions":[{"name":"remove","args":["remove"]}]}`, 0
				case removed && fails:
					return "", 1
				}
				return `{"status":"VALID","state":{}}`, 0
			}
			e.fake.Add("test/a:1", s.program)
			b := "resource \"b\" {\n  type = \"test/a:1\"\n  config = { id = 2 }\n}\n"
			e.do(t, b+"resource \"a\" {\n  type = \"test/a:1\"\n  config = { id = 1 }\n}\n")
			report := e.do(t, b)
			if (report.Status == apply.OK) == fails || (report.Resources["b"].Failed == "state") != fails {
				t.Errorf("%s", encode(report))
			}
		})
	}
}

// Where it stays unknown what identifies a resource, nothing of its kind is destroyed: it
// may be that thing.
func TestLateIdentity_StaysUnknown(t *testing.T) {
	t.Parallel()
	e := endings(t)
	e.opts.KeepGoing = true
	e.do(t, one("known", "e", `"x"`, "1"))
	e.world.TakeLog()
	report := e.do(t, thing("p", "v", `"x"`)+one("known", "late", "resource.p.state.missing", "1"))
	if done := e.done(); done != "make p" || report.Status != apply.Error || report.Resources["e"].Status != apply.NotStarted {
		t.Errorf("done %s: %s", done, encode(report))
	}
	if _, recorded := e.recorded(t).Resources["e"]; !recorded || e.there() != "p x" {
		t.Errorf("there is %q, recorded %v", e.there(), recorded)
	}
}

// The report says of what was deferred what it turned out to need.
func TestReport_WhatBecameOfDeferred(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	source := thing("a", "v", "1") + thing("b", "v", "resource.a.state.v")
	if b := e.do(t, source).Resources["b"]; b.Became != plan.Create {
		t.Errorf("%s", encode(b))
	}
	for there, want := range map[string]apply.Change{`{"v":1}`: "", `{"v":7}`: plan.Update, "": plan.Create} {
		e.world.Set("b", there)
		e.only = plan.Selection{Replace: []string{"a"}}
		if b := e.do(t, source).Resources["b"]; b.Became != want {
			t.Errorf("there is %q: %s", there, encode(b))
		}
	}
}
