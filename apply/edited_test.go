package apply_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner"
	"deployster/plan/reason"
)

// careless is the type of World.Program without an eye for the tier in a config; keyed
// says that it has a key.
func (e *engine) careless(keyed bool) func(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	return func(ctx context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
		if len(s.Args) == 0 {
			key := ""
			if keyed {
				key = `"identity":["/id"],`
			}
			_, _ = io.WriteString(stdout, `{"protocol":2,`+key+`"state_action":{"args":["state"]},
"config_schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"v":{},"tier":{"type":"string"},"extra":{}}}}`)
			return 0
		}
		var in map[string]json.RawMessage
		if err := json.NewDecoder(stdin).Decode(&in); err != nil {
			return 90
		}
		in["config"] = jsondoc.Without(in["config"], []string{"/tier", "/extra"})
		less, err := json.Marshal(in)
		if err != nil {
			return 91
		}
		return e.world.Program(ctx, s, bytes.NewReader(less), stdout, stderr)
	}
}

// TestEdited_ReportsAnEditWithoutEffect: a config that changed to no effect is reported, and what a type without a key
// may have left behind.
func TestEdited_ReportsAnEditWithoutEffect(t *testing.T) {
	t.Parallel()
	const mayStay = "The type declares no identity; the object of the previous config may remain."
	for name, c := range map[string]struct {
		keyed bool
		now   []string // the config; it was: id "x", v 1, tier "gold"
		want  string
	}{
		"nothing":                       {true, []string{"id", `"x"`, "v", "1", "tier", `"gold"`}, "valid"},
		"what it does not look at":      {true, []string{"id", `"x"`, "v", "1", "tier", `"lead"`}, "valid /tier changed"},
		"what it does not look at goes": {true, []string{"id", `"x"`, "v", "1"}, "valid /tier removed"},
		"what it looks at":              {true, []string{"id", `"x"`, "v", "2", "tier", `"lead"`}, "update"},
		"without a key":                 {false, []string{"id", `"x"`, "v", "1"}, "valid /tier removed " + mayStay},
		"without a key, an update":      {false, []string{"id", `"x"`, "v", "2", "tier", `"gold"`}, "update " + mayStay},
		"without a key, nothing":        {false, []string{"id", `"x"`, "v", "1", "tier", `"gold"`}, "valid"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t.TempDir())
			e.fake.Add("test/careless:1", e.careless(c.keyed))
			source := func(config ...string) string {
				return replaced(thing("a", config...), "test/thing:1", "test/careless:1")
			}
			e.do(t, source("id", `"x"`, "v", "1", "tier", `"gold"`))
			p, err := e.plan(source(c.now...))
			if err != nil {
				t.Fatal(err)
			}
			s := p.Resources["a"]
			got := strings.Join(strings.Fields(string(s.Change())+" "+jsondoc.EditWords(s.Edited())+" "+strings.Join(reason.Words(s.Notes), " ")), " ")
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			e.do(t, source(c.now...))
			if p, err = e.plan(source(c.now...)); err != nil || len(p.Resources["a"].Edited())+len(p.Resources["a"].Notes) > 0 {
				t.Errorf("it is told again: %v, %v", p.Resources["a"], err)
			}
		})
	}
}

// Keys below a sensitive value may be made of secrets, also those that it had before.
func TestEdited_WithoutSensitiveKeys(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.fake.Add("test/careless:1", e.careless(true))
	source := func(extra string) string {
		return replaced(thing("a", "id", `"x"`, "v", "1", "extra", extra), "test/thing:1", "test/careless:1")
	}
	e.do(t, source(`sensitive({ "2retnuh" = 1, b = 1 })`))
	for _, c := range []struct{ extra, want string }{
		{`sensitive({ "3retnuh" = 1, b = 1 })`, "/extra changed"},
		{`{ b = 1 }`, "/extra changed"},
		{"null", "/extra changed"},
	} {
		p, err := e.plan(source(c.extra))
		if err != nil {
			t.Fatal(err)
		}
		if got := jsondoc.EditWords(p.Resources["a"].Edited()); got != c.want {
			t.Errorf("%s: %q, want %q", c.extra, got, c.want)
		}
	}
}
