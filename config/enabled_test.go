package config

import (
	"strings"
	"testing"

	"deployster/internal/base/diag"
)

const optional = `
variable "on" {}
resource "a" {
  type    = "x"
  enabled = var.on
}
resource "b" {
  type         = "x"
  dependencies = { a = resource.a }
  depends_on   = [module.web]
  config       = { a = dep.a == null ? "none" : dep.a.state.v, web = one(module.web[*].url) }
}
module "web" {
  source  = "./web"
  enabled = var.on
}
output "v" { value = try(resource.a.state.v, "none") }
output "web" { value = module.web }
output "all" { value = resource.a[*].name }
`

const optionalWeb = `
resource "c" { type = "x" }
output "url" { value = resource.c.state.url }
`

// A block that is enabled has one instance without an index, and is null where it is not.
func TestEnabled_IsOneInstanceOrNone(t *testing.T) {
	t.Parallel()
	states := States{"a": {Known: []byte(`{"v":"A"}`), Complete: true}, "module.web.c": {Known: []byte(`{"url":"U"}`), Complete: true}}
	for on, want := range map[string]struct{ edges, config, outputs string }{
		"true": {"a:\nb: a(dependency) module.web.c\nmodule.web.c:\n", `{"a":"A","web":"U"}`,
			`all ["a"] v "A" web {"url":"U"}`},
		"false": {"b:\n", `{"a":"none","web":null}`, `all [] v "none" web null`},
	} {
		m, diags := loadWith(t, map[string]string{"main.hcl": optional, "web": optionalWeb}, "on="+on)
		fatal(t, diags)
		if got := edgesOf(m); got != want.edges {
			t.Errorf("%s: edges\n%s", on, got)
		}
		resolved, diags := m.Config("b", states)
		fatal(t, diags)
		if string(resolved.Value) != want.config {
			t.Errorf("%s: config %s", on, resolved.Value)
		}
		outputs, diags := m.Outputs(states)
		fatal(t, diags)
		var got []string
		for _, o := range outputs {
			got = append(got, o.Name, string(o.Value))
		}
		if text := strings.Join(got, " "); text != want.outputs {
			t.Errorf("%s: outputs %s", on, text)
		}
	}
}

func loadWith(t *testing.T, files map[string]string, vars ...string) (*Manifest, diag.Diagnostics) {
	t.Helper()
	src := inMemory(t, files)
	var flags []VarFlag
	for _, v := range vars {
		flags = append(flags, VarFlag{Value: v})
	}
	inputs, diags := FindVariables(src.Dir, "", nil, flags)
	fatal(t, diags)
	m, diags := Load(src, inputs, Builtins{Version: "0.1.0"})
	return m, diags
}

// What is enabled by a state is known with it, and is in the plan file.
func TestEnabled_ByAState(t *testing.T) {
	t.Parallel()
	m := load(t, "resource \"a\" { type = \"x\" }\nresource \"b\" {\n  type = \"x\"\n  enabled = resource.a.state.v == 1\n}\n")
	for value, want := range map[string]string{`{"v":1}`: "a:\nb: a\n", `{"v":2}`: "a:\n"} {
		next, _, diags := m.Expand(m.Pending(), States{"a": {Known: []byte(value), Complete: true}})
		fatal(t, diags)
		if got := edgesOf(next); got != want {
			t.Errorf("%s: %q", value, got)
		}
		again, diags := m.With(next.Sources().Instances)
		fatal(t, diags)
		if got := edgesOf(again); got != want {
			t.Errorf("%s: from the plan file %q", value, got)
		}
	}
	if _, unknown, diags := m.Expand(m.Pending(), States{"a": {}}); len(unknown) != 1 || unknown[0].Attribute() != "enabled" {
		t.Errorf("unknown: %v", diags)
	}
}
