package config

import (
	"slices"
	"strings"
	"testing"
)

// Conditions, checks and ignore_changes are those of one instance: each.key is
// its own, and so are self and the config that was recorded.
func TestConditions_OfInstances(t *testing.T) {
	t.Parallel()
	m := load(t, `
resource "a" {
  for_each = toset(["x", "y"])
  type     = "acme/file:1"
  config   = { n = each.key, size = 1 }
  lifecycle {
    ignore_changes = [size]
    precondition {
      condition     = each.key == "x"
      error_message = "Not ${each.key}."
    }
    postcondition {
      condition     = self.state.n == each.key && self.config.size == 2
      error_message = "${self.name} is ${self.state.n}."
    }
  }
}
resource "b" {
  type   = "acme/file:1"
  config = {}
  lifecycle {
    precondition {
      condition     = resource.a["y"].state.n == "y"
      error_message = "No y."
    }
  }
}
check "all" {
  assert {
    condition     = alltrue([for k, a in resource.a : a.state.n == k])
    error_message = "One is not."
  }
}
`)
	if edges := m.instances.Find("b").Edges; len(edges) != 1 || edges[0].To != `a["y"]` {
		t.Errorf("edges: %v", edges)
	}
	recorded := ResourceState{Known: []byte(`{"n":"x"}`), Complete: true, Last: &LastConfig{Value: []byte(`{"n":"x","size":2}`)}}
	scope := States{`a["x"]`: recorded, `a["y"]`: recorded}
	for addr, want := range map[string]string{`a["x"]`: "", `a["y"]`: "Not y."} {
		if _, diags := m.Conditions(addr).Before(scope); !strings.Contains(details(diags), want) || want == "" && len(diags) > 0 {
			t.Errorf("%s: %v", addr, diags)
		}
	}
	for addr, want := range map[string]string{`a["x"]`: "", `a["y"]`: `a["y"] is x.`} {
		if _, diags := m.Conditions(addr).After(scope); !strings.Contains(details(diags), want) || want == "" && len(diags) > 0 {
			t.Errorf("%s: %v", addr, diags)
		}
	}
	checks, _ := m.Checks(scope, Looked{})
	if len(checks) != 1 || checks[0].Status != CheckFail || !slices.Equal(checks[0].Messages, []string{"One is not."}) {
		t.Errorf("%+v", checks)
	}
}

func TestLifecycle_IsEvaluatedInModules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m, diags := Load(Sources{Workspace: dir, Dir: dir, Manifests: []File{{Path: "main.hcl", Bytes: []byte(`
module "m" {
  for_each = toset(["k"])
  source   = "./m"
  size     = resource.a.state.size
}
resource "a" {
  type = "acme/file:1"
}
moved {
  from = module.old
  to   = module.m["k"]
}
removed {
  from = module.m["gone"].resource.x
}
`)}}, Modules: map[string][]File{"m": {{Path: "m/main.hcl", Bytes: []byte(`
variable "size" {
  type = number
}
resource "r" {
  type = "acme/file:1"
  lifecycle {
    precondition {
      condition     = var.size > 1
      error_message = "${var.size} is small."
    }
  }
}
moved {
  from = resource.q
  to   = resource.r
}
removed {
  from = resource.z[0]
}
check "c" {
  assert {
    condition     = resource.r.state.ok
    error_message = "It is not."
  }
}
output "o" {
  value = var.size
  precondition {
    condition     = var.size > 1
    error_message = "No output for ${var.size}."
  }
}
`)}}}}, nil, Builtins{Version: "0.1.0", Home: "/home/me"})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	var got []string
	for _, v := range m.Moved() {
		got = append(got, v.From+" to "+v.To)
	}
	for _, v := range m.Removed() {
		got = append(got, "removed "+v.From)
	}
	want := []string{`module.old to module.m["k"]`, `module.m["k"].q to module.m["k"].r`, `removed module.m["gone"].x`, `removed module.m["k"].z[0]`}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	r := `module.m["k"].r`
	if edges := m.instances.Find(r).Edges; len(edges) != 1 || edges[0].To != "a" {
		t.Errorf("edges: %v", edges)
	}
	scope := States{"a": whole(`{"size":1}`), r: whole(`{"ok":false}`)}
	if _, diags := m.Conditions(r).Before(scope); !strings.Contains(details(diags), "1 is small.") {
		t.Errorf("%v", diags)
	}
	if open, diags := m.Conditions(r).Before(States{}); len(diags) > 0 || !slices.Equal(open, []string{"resource.a.state.size"}) {
		t.Errorf("%v %v", open, diags)
	}
	checks, warnings := m.Checks(scope, Looked{})
	if len(checks) != 1 || checks[0].Name != `module.m["k"].c` || checks[0].Status != CheckFail || len(warnings) != 1 || warnings[0].Range.Filename != "m/main.hcl" {
		t.Errorf("%+v %v", checks, warnings)
	}
	if _, diags := m.Outputs(scope); !strings.Contains(details(diags), "No output for 1.") {
		t.Errorf("%v", diags)
	}
}
