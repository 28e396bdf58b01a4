package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/internal/base/diag"
)

// conditional is a resource with a precondition over another's state, and a
// postcondition over its own.
const conditional = `
variable "secret" {
  default   = "open sesame"
  sensitive = true
}
resource "a" {
  type = "acme/file:1"
}
resource "b" {
  type = "acme/file:1"
  config = {
    x = 1
  }
  lifecycle {
    precondition {
      condition     = resource.a.state.size > 2
      error_message = "Only ${resource.a.state.size}."
    }
    precondition {
      condition     = var.secret == "open sesame" || resource.a.state.size == 5
      error_message = "x"
    }
    postcondition {
      condition     = self.state.ok && self.config.x == 1 && self.name == "b"
      error_message = "b says: ${self.state.why}"
    }
    postcondition {
      condition     = self.state.ok
      error_message = "It is ${var.secret}."
    }
  }
}
check "both" {
  assert {
    condition     = resource.a.state.size > 2
    error_message = "a is small."
  }
  assert {
    condition     = resource.b.state.ok
    error_message = "b is not."
  }
}
check "fine" {
  assert {
    condition     = try(resource.b.state.ok, false) == false || true
    error_message = "x"
  }
}
output "o" {
  value = 1
  precondition {
    condition     = resource.a.state.size > 2
    error_message = "No output."
  }
}
`

func whole(state string) ResourceState {
	return ResourceState{Known: []byte(state), Complete: true}
}

func details(list diag.Diagnostics) string {
	var lines []string
	for _, d := range list {
		lines = append(lines, fmt.Sprintf("%s %s: %s", d.Severity, shortPlace(d), d.Detail))
	}
	return strings.Join(lines, "\n")
}

func TestConditions_PassFailOrAreUnknown(t *testing.T) {
	t.Parallel()
	m := load(t, conditional)
	if edges := m.instances.Find("b").Edges; len(edges) != 1 || edges[0] != (Edge{To: "a", Origin: FromReference}) {
		t.Errorf("a condition makes no edge: %v", edges)
	}
	for _, c := range []struct {
		name        string
		scope       States
		open        string
		before, aft string // parts of the errors, "" = none
	}{
		{"nothing known", States{}, "resource.a.state.size", "", ""},
		{"all well", States{"a": whole(`{"size":3}`), "b": whole(`{"ok":true}`)}, "", "", ""},
		{"before", States{"a": whole(`{"size":1}`)}, "", "error error 16:23: Only 1.", ""},
		{"after", States{"a": whole(`{"size":3}`), "b": whole(`{"ok":false,"why":"no"}`)}, "", "", "b says: no"},
		{"cannot be evaluated", States{"a": whole(`{}`), "b": whole(`{}`)}, "", `resource.a.state has no attribute "size"`, `self.state has no attribute "ok"`},
	} {
		open, before := m.Conditions("b").Before(c.scope)
		if strings.Join(open, " ") != c.open {
			t.Errorf("%s: open %v, want %s", c.name, open, c.open)
		}
		_, after := m.Conditions("b").After(c.scope)
		for got, want := range map[string]string{details(before): c.before, details(after): c.aft} {
			if !strings.Contains(got, want) || want == "" && got != "" {
				t.Errorf("%s: %s\nwant %q", c.name, got, want)
			}
			if strings.Contains(got, "sesame") {
				t.Errorf("%s: a secret is in %s", c.name, got)
			}
		}
	}
}

func TestCondition_ShowsItsValues(t *testing.T) {
	t.Parallel()
	_, diags := load(t, conditional).Conditions("b").Before(States{"a": whole(`{"size":1}`)})
	if len(diags) != 1 || diags[0].Address != "b" || !slices.Contains(diags[0].Snippet.Values, diag.Value{Name: "resource.a.state.size", Text: "is 1"}) {
		t.Errorf("%+v", diags)
	}
}

func TestChecks_PassFailOrAreUnknown(t *testing.T) {
	t.Parallel()
	m := load(t, conditional)
	for _, c := range []struct {
		scope    States
		both     CheckStatus
		messages string
	}{
		{States{}, CheckUnknown, ""},
		{States{"a": whole(`{"size":3}`)}, CheckUnknown, ""},
		{States{"a": whole(`{"size":3}`), "b": whole(`{"ok":true}`)}, CheckPass, ""},
		{States{"a": whole(`{"size":1}`)}, CheckFail, "a is small."},
		{States{"a": whole(`{"size":1}`), "b": whole(`{"ok":false}`)}, CheckFail, "a is small.|b is not."},
		{States{"a": whole(`{"size":"big"}`)}, CheckFail, "Unsuitable value for left operand: a number is required."},
	} {
		results, diags := m.Checks(c.scope, Looked{})
		if len(results) != 2 || results[0].Name != "both" || results[1].Status != CheckPass {
			t.Fatalf("%v: %+v", c.scope, results)
		}
		if got := results[0]; got.Status != c.both || strings.Join(got.Messages, "|") != c.messages {
			t.Errorf("%v: %+v, want %s %s", c.scope, got, c.both, c.messages)
		}
		if diags.HasErrors() || (len(diags) > 0) != (c.both == CheckFail) {
			t.Errorf("%v: %v", c.scope, diags)
		}
	}
}

func TestOutput_Preconditions(t *testing.T) {
	t.Parallel()
	m := load(t, conditional)
	outputs, diags := m.Outputs(States{})
	if len(diags) > 0 || len(outputs) != 1 || !slices.Equal(outputs[0].Open, []string{"resource.a.state.size"}) {
		t.Errorf("%+v, %v", outputs, diags)
	}
	if _, diags := m.Outputs(States{"a": whole(`{"size":1}`)}); !strings.Contains(details(diags), "No output.") {
		t.Errorf("%v", diags)
	}
}

// The blocks of this page in JSON syntax.
func TestLifecycle_IsReadFromJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m, diags := Load(Sources{Workspace: dir, Dir: dir, Manifests: []File{{Path: "main.hcl.json", Bytes: []byte(`{
  "resource": {
    "a": {"type": "acme/a:1", "config": {"size": 1, "tags": {"x": "new"}}, "lifecycle": {"ignore_changes": ["size", "tags[\"x\"]"],
      "precondition": [{"condition": "${1 > 2}", "error_message": "No ${1+1}."}]}},
    "b": {"type": "acme/a:1", "config": {"size": 1}, "lifecycle": {"ignore_changes": "all", "postcondition": {"condition": "${self.state.ok}", "error_message": "Not ok."}}}},
  "check": {"k": {"assert": [{"condition": "${resource.b.state.ok}", "error_message": "y"}]}},
  "moved": [{"from": "resource.z[\"k\"]", "to": "resource.a"}],
  "removed": {"from": "module.q", "lifecycle": {"destroy": false}},
  "output": {"o": {"value": 1, "precondition": {"condition": "${resource.b.state.ok}", "error_message": "z"}}}}`)}}}, nil, Builtins{Version: "0.1.0"})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	scope := States{"b": {Known: []byte(`{"ok":false}`), Complete: true, Last: &LastConfig{Value: []byte(`{"size":7}`)}},
		"a": {Last: &LastConfig{Value: []byte(`{"size":7,"tags":{"x":"old"}}`)}}}
	_, before := m.Conditions("a").Before(scope)
	_, after := m.Conditions("b").After(scope)
	_, outputs := m.Outputs(scope)
	checks, _ := m.Checks(scope, Looked{})
	a, _ := m.Config("a", scope)
	b, _ := m.Config("b", scope)
	got := fmt.Sprint(before[0].Detail, after[0].Detail, outputs[0].Detail, checks, string(a.Value), string(b.Value), m.Moved()[0].From, m.Removed()[0].Destroy)
	want := `No 2.Not ok.z[{k fail false [y]}]{"size":7,"tags":{"x":"old"}}{"size":7}z["k"]false`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A condition over what is made when the plan is applied is decided then.
func TestConditions_OfWhatAnApplyMakes(t *testing.T) {
	t.Parallel()
	m := load(t, `
resource "a" {
  type = "acme/a:1"
  lifecycle {
    precondition {
      condition     = length(uuid()) < 3
      error_message = "Too long."
    }
  }
}
`)
	open, diags := m.Conditions("a").Before(States{})
	if len(diags) > 0 || len(open) != 1 {
		t.Errorf("planned: %q %v", open, diags)
	}
	if open, _ := load(t, conditional).Conditions("b").After(States{}); !slices.Contains(open, "resource.b.state.ok") {
		t.Errorf("of itself: %q", open)
	}
	open, diags = m.Applying(time.Now()).Conditions("a").Before(States{})
	if len(open) > 0 || !strings.Contains(details(diags), "Too long.") {
		t.Errorf("applied: %q %v", open, diags)
	}
}
