package apply_test

import (
	"context"
	"strings"
	"testing"
)

// never writes a resource that must be new.
func never(name string, config ...string) string {
	return replaced(thing(name, config...), "  config", "  lifecycle {\n    adopt = false\n  }\n  config")
}

// TestAdopt_RecordsAnExistingObject plans a resource that exists and is recorded nowhere.
func TestAdopt_RecordsAnExistingObject(t *testing.T) {
	t.Parallel()
	const byDefault = "deployster {\n  adopt = false\n}\n"
	for name, c := range map[string]struct{ source, there, want string }{
		"it is there":              {thing("a", "v", "1"), `{"v":1}`, "a:valid 1 to adopt"},
		"it is there, and differs": {thing("a", "v", "1"), `{"v":2}`, "a:update 0 to adopt"},
		"it is not there":          {never("a", "v", "1"), "", "a:create 0 to adopt"},
		"it must be new":           {never("a", "v", "1"), `{"v":1}`, "Resource exists already"},
		"new, and it differs":      {never("a", "v", "1"), `{"v":2}`, "Resource exists already"},
		"new by default":           {byDefault + thing("a", "v", "1"), `{"v":1}`, "Resource exists already"},
		"the default taken back":   {byDefault + replaced(never("a", "v", "1"), "adopt = false", "adopt = true"), `{"v":1}`, "a:valid 1 to adopt"},
		"read_only only looks":     {byDefault + replaced(thing("a", "v", "1"), "  config", "  read_only = true\n  config"), `{"v":1}`, "a:valid 0 to adopt"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t.TempDir())
			if c.there != "" {
				e.world.Set("a", c.there)
			}
			p, err := e.plan(c.source)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = changes(p) + " " + encode(p.Summary.Adopt) + " to adopt"
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestAdopt_WhatIsRecordedIsOurs: an apply may go on with what it has made or begun.
func TestAdopt_WhatIsRecordedIsOurs(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.world.Fail("a", true)
	p, err := e.plan(never("a", "v", "1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.apply(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	e.world.Fail("a", false)
	e.world.Set("a", `{"v":1}`)
	for _, v := range []string{"1", "2"} {
		e.do(t, never("a", "v", v))
		if got := e.world.Things()["a"]; got != `{"v":`+v+`}` {
			t.Errorf("a is %s, want %s", got, v)
		}
	}
}

// TestAdopt_AppearsBeforeApply: what has come into being since the plan is not taken over,
// and neither is what a deferred resource finds at its turn.
func TestAdopt_AppearsBeforeApply(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"planned":  never("a", "v", "1"),
		"deferred": thing("dep", "v", "1") + never("a", "v", "resource.dep.state.v"),
	} {
		for how, there := range map[string]string{"as declared": `{"v":1}`, "another": `{"v":7}`} {
			t.Run(name+", "+how, func(t *testing.T) {
				e := newEngine(t.TempDir())
				p, err := e.plan(source)
				if err != nil {
					t.Fatal(err)
				}
				e.world.Set("a", there)
				report, err := e.apply(context.Background(), p)
				if err != nil {
					t.Fatal(err)
				}
				if got := summaries(report.Problems); encode(got) != `["a: Resource exists already"]` {
					t.Errorf("problems: %s", got)
				}
				if got := e.world.Things()["a"]; got != there {
					t.Errorf("a is %s now", got)
				}
			})
		}
	}
}
