package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestEdges_ComeFromReferencesAliasesAndLocals(t *testing.T) {
	t.Parallel()
	m := load(t, `
locals {
  deep = [local.net]
  net  = { ip = resource.net.state.ip }
}
resource "net"  { type = "x" }
resource "disk" {
  type = "x"
  config = { on = resource.net.name }
}
resource "vm" {
  type         = "x"
  dependencies = { disk = resource.disk }
  depends_on   = [resource.disk, resource.log]
  config       = { ip = local.deep[0].ip, again = resource.disk.state.x, same = resource.disk.config.on }
}
resource "log" { type = "x" }
`)
	want := map[string][]Edge{"disk": {{To: "net", Origin: FromReference}}, "log": {}, "net": {},
		"vm": {{To: "disk", Origin: FromDependency}, {To: "log", Origin: FromDependsOn}, {To: "net", Origin: FromReference}}}
	for _, r := range m.Resources() {
		if !reflect.DeepEqual(r.Edges, want[r.Address]) {
			t.Errorf("%s: %v, want %v", r.Address, r.Edges, want[r.Address])
		}
	}
}

// Who sees the config of another resource needs what that is made of: only the
// states of what a resource is connected to are given to Config.
func TestEdges_GoThroughConfigs(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string][]Edge{
		"resource.b.config.v":         {{To: "a", Origin: FromReference}, {To: "b", Origin: FromReference}},
		"dep.x.config.v":              {{To: "a", Origin: FromReference}, {To: "b", Origin: FromReference}, {To: "x", Origin: FromDependency}},
		"local.whole.config.v":        {{To: "a", Origin: FromReference}, {To: "b", Origin: FromReference}},
		"resource.deep.config.w":      {{To: "a", Origin: FromReference}, {To: "b", Origin: FromReference}, {To: "deep", Origin: FromReference}},
		`resource["b"]["config"].v`:   {{To: "a", Origin: FromReference}, {To: "b", Origin: FromReference}},
		"resource.b[local.attr].v":    {{To: "a", Origin: FromReference}, {To: "b", Origin: FromReference}},
		"resource.b.state.v":          {{To: "b", Origin: FromReference}},
		"resource.b.name":             {{To: "b", Origin: FromReference}},
		"resource.ordered.config.one": {{To: "ordered", Origin: FromReference}},
	} {
		dependencies := ""
		if strings.HasPrefix(ref, "dep.") {
			dependencies = "dependencies = { x = resource.x }"
		}
		m := load(t, `
locals {
  attr  = "config"
  whole = resource.b
  in_b  = resource.a.state.x
}
resource "a" { type = "x" }
resource "b" {
  type   = "x"
  config = { v = local.in_b }
}
resource "x" {
  type   = "x"
  config = { v = resource.b.config.v }
}
resource "deep" {
  type   = "x"
  config = { w = local.whole.config.v }
}
resource "ordered" {
  type       = "x"
  depends_on = [resource.a]
  config     = { one = 1 }
}
resource "c" {
  type = "x"
  `+dependencies+`
  config = { w = `+ref+` }
}
`)
		i := slices.IndexFunc(m.Resources(), func(r *Resource) bool { return r.Address == "c" })
		c := m.Resources()[i]
		if !reflect.DeepEqual(c.Edges, want) {
			t.Errorf("%s: %v, want %v", ref, c.Edges, want)
		}
		scope := States{}
		for _, e := range c.Edges {
			scope[e.To] = ResourceState{Known: []byte(`{"x":7,"v":7}`), Complete: true}
		}
		if r := config(t, m, "c", scope); len(r.Unknown) > 0 {
			t.Errorf("%s: %s is not known from the states of its own edges", ref, r.Value)
		}
	}
}
