package apply_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/plan"
	"deployster/plan/reason"
)

// forecasting is a type that, before it changes a thing, says what becomes of its v
// and that its ip is known only after that.
func forecasting(w *runnertest.World) runnertest.Program {
	return func(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
		in, err := io.ReadAll(stdin)
		if err != nil {
			return 91
		}
		var asked struct{ Config map[string]json.RawMessage }
		var out bytes.Buffer
		code := w.Program(ctx, s, bytes.NewReader(in), &out, stderr)
		var answer map[string]any
		if json.Unmarshal(in, &asked) == nil && json.Unmarshal(out.Bytes(), &answer) == nil && answer["staleState"] != nil {
			answer["forecast"], answer["unknown"] = map[string]any{"v": asked.Config["v"]}, []string{"/ip"}
			_ = json.NewEncoder(stdout).Encode(answer)
			return code
		}
		_, _ = stdout.Write(out.Bytes())
		return code
	}
}

// What a resource will be after its update is forecast, unknown, or expected to stay;
// who refers to it as one of a for_each sees the same.
func TestExpectedState_IsForecastUnknownOrUnchanged(t *testing.T) {
	source := func(v string) string {
		return "resource \"many\" {\n  type = \"test/told:1\"\n  for_each = toset([\"x\"])\n  config = {\n    v = " + v +
			"\n    ip = \"10.0.0.1\"\n    zone = \"a\"\n  }\n}\n"
	}
	for name, c := range map[string]struct {
		value, change, config string
		unknown               string
		staying               []string
	}{
		"forecast":             {`resource.many["x"].state.v`, "update", `{"on":2}`, "", nil},
		"unknown":              {`resource.many["x"].state.ip`, "deferred", "", `resource.many["x"].state.ip`, nil},
		"expected to stay":     {`resource.many["x"].state.zone`, "valid", `{"on":"a"}`, "", []string{"/on"}},
		"part of a text":       {`"in ${resource.many["x"].state.zone}"`, "valid", `{"on":"in a"}`, "", []string{"/on"}},
		"forecast, by values":  {`values(resource.many)[0].state.v`, "update", `{"on":2}`, "", nil},
		"unknown, by values":   {`values(resource.many)[0].state.ip`, "deferred", "", `resource.many["x"].state`, nil},
		"to stay, by values":   {`values(resource.many)[0].state.zone`, "valid", `{"on":"a"}`, "", []string{"/on"}},
		"to stay, by a for":    {`join(",", [for r in resource.many : r.state.zone])`, "valid", `{"on":"a"}`, "", []string{"/on"}},
		"what is not there":    {`try(resource.many["x"].state.none, "none")`, "deferred", "", `resource.many["x"].state.none`, nil},
		"not there, by values": {`lookup(values(resource.many)[0].state, "none", "none")`, "valid", `{"on":"none"}`, "", nil},
		"the state as a whole": {`length(resource.many["x"].state)`, "valid", `{"on":3}`, "", nil},
		"a mistake until then": {`try(resource.many["x"].state.w, values(resource.many)[0].state.w, "none")`, "deferred", "", `resource.many["x"].state, resource.many["x"].state.w`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t.TempDir())
			e.fake.Add("test/told:1", forecasting(e.world))
			e.do(t, source("1")+thing("dep", "on", c.value))
			p, err := e.plan(source("2") + thing("dep", "on", c.value))
			if err != nil {
				t.Fatal(err)
			}
			s := p.Resources["dep"]
			if string(s.Change()) != c.change || s.Unknown["/on"] != c.unknown || !slices.Equal(s.MayChangeAt, c.staying) ||
				c.config != "" && string(s.Config) != c.config {
				t.Errorf("%s %s, unknown %v, may change at %v", s.Change(), s.Config, s.Unknown, s.MayChangeAt)
			}
			if want := c.change != "deferred"; (s.Certainty == plan.MayChange) != want {
				t.Errorf("may change: %t, want %t", !want, want)
			}
			report, err := e.apply(t.Context(), p)
			if err != nil || report.Status != apply.OK {
				t.Errorf("%s, %v, %v", report.Status, summaries(report.Problems), err)
			}
			if rest, p := e.selected(source("2")+thing("dep", "on", c.value), plan.Selection{}); p.HasChanges() {
				t.Errorf("there is still to do: %s", strings.TrimSpace(rest))
			}
		})
	}
}

// What may act is counted: what waits and is not recorded is expected to be created.
func TestExpectedChanges_AreCounted(t *testing.T) {
	e := newEngine(t.TempDir())
	base := thing("net", "v", "1") + thing("db", "on", "resource.net.state.v")
	p, err := e.plan(base)
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Summary; s.Create != 1 || s.Deferred != 1 || s.Expected != (plan.Expected{Create: 1}) || p.Resources["db"].Expected() != plan.Create {
		t.Errorf("at first %+v, db %q", s, p.Resources["db"].Expected())
	}
	e.do(t, base)
	if p, err = e.plan(thing("net", "v", "2") + thing("db", "on", "resource.net.state.v")); err != nil {
		t.Fatal(err)
	}
	if s := p.Summary; s.Update != 1 || s.Valid != 1 || s.MayChange != 1 {
		t.Errorf("then %+v", s)
	}
}

// What is recorded and deferred is expected to be updated where its config is known to
// be another, whatever the rest of it will be.
func TestExpectedUpdate_FollowsTheKnownPartOfAConfig(t *testing.T) {
	source := func(v string, config ...string) string {
		return replaced(thing("s", "v", v, "ip", `"10.0.0.1"`), "test/thing:1", "test/told:1") + thing("dep", config...)
	}
	const ip = "resource.s.state.ip"
	for name, c := range map[string]struct {
		then []string
		want plan.Change
	}{
		"only what is unknown":       {[]string{"on", ip, "v", "1"}, ""},
		"what is known too":          {[]string{"on", ip, "v", "2"}, plan.Update},
		"a key goes":                 {[]string{"on", ip}, plan.Update},
		"an unknown key comes":       {[]string{"on", ip, "v", "1", "more", ip}, plan.Update},
		"known becomes unknown":      {[]string{"on", ip, "v", ip}, ""},
		"unknown in a list":          {[]string{"on", "[" + ip + "]", "v", "1"}, plan.Update},
		"unknown in what was simple": {[]string{"on", "{ a = " + ip + " }", "v", "1"}, plan.Update},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t.TempDir())
			e.fake.Add("test/told:1", forecasting(e.world))
			e.do(t, source("1", "on", ip, "v", "1"))
			p, err := e.plan(source("2", c.then...))
			if err != nil {
				t.Fatal(err)
			}
			dep := p.Resources["dep"]
			if dep.Change() != plan.Deferred || dep.Expected() != c.want || dep.Was() == nil {
				t.Errorf("%s, expected %q, was %v", dep.Change(), dep.Expected(), dep.Was())
			}
			if want := (plan.Expected{Update: len(c.want) / len(plan.Update)}); p.Summary.Expected != want {
				t.Errorf("counted %+v, want %+v", p.Summary.Expected, want)
			}
		})
	}
}

// What a deferred resource of a type without identity was recorded with may stay, when
// its config is another one now: the plan says so, as it does of one that it can ask.
func TestExpected_WhatMayStay(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	source := func(v string) string {
		return thing("a") + strings.Replace(thing("b", "v", v), "config", "depends_on = [resource.a]\n  config", 1)
	}
	e.do(t, source("1"))
	e.world.Set("a", "") // so that b waits for it
	for v, want := range map[string]bool{"1": false, "2": true} {
		p, err := e.plan(source(v))
		if err != nil {
			t.Fatal(err)
		}
		b := p.Resources["b"]
		if said := strings.Contains(strings.Join(reason.Words(b.Notes), " "), "the object of the previous config may remain"); b.Change() != plan.Deferred || said != want {
			t.Errorf("v = %s: %s, %q", v, b.Change(), reason.Words(b.Notes))
		}
	}
}
