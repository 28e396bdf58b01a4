package config

import (
	"reflect"
	"testing"
)

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"web": "web", " resource.web ": "web", `web["a/b.c"]`: `web["a/b.c"]`, "web[0]": "web[0]", `resource.web["ü"]`: `web["ü"]`,
		"module.net": "module.net", `module.net["x"].web[1]`: `module.net["x"].web[1]`, `module.net.resource.web`: "module.net.web",
		"module.a.module.b": "module.a.module.b", `module.a.module.b.web["k"]`: `module.a.module.b.web["k"]`,
		"": "", "web[a]": "", "web.state": "", "1": "", "web[": "", "module": "module", "resource.": "", "web[*]": "", "a b": "", `module.net.`: "",
	} {
		got, err := ParseAddress(text)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

// What an output is made of, and what blocks whose instances are not known yet
// keep from being known.
func TestOutputReach(t *testing.T) {
	t.Parallel()
	m, diags := Load(Sources{Workspace: "/w", Dir: "/w", Manifests: []File{{Path: "main.hcl", Bytes: []byte(`
resource "src" {
  type = "acme/x"
}
resource "node" {
  type     = "acme/x"
  for_each = resource.src.state.keys
}
resource "user" {
  type       = "acme/x"
  depends_on = [resource.node]
}
locals {
  both = [resource.src.state.a, resource.node]
}
output "plain" {
  value = 1
}
output "one" {
  value = resource.src.state.a
}
output "some" {
  value = local.both
}
output "guarded" {
  value = 1
  precondition {
    condition     = resource.src.state.a > 1
    error_message = "no"
  }
}
`)}}}, nil, Builtins{Version: "0.1.0", Home: "/"})
	if len(diags) != 0 {
		t.Fatal(diags)
	}
	got, diags := m.OutputReach()
	want := map[string]Reach{"plain": {Resources: []string{}, WaitsFor: nil}, "one": {Resources: []string{"src"}, WaitsFor: nil}, "some": {Resources: []string{"src"}, WaitsFor: []string{"node"}}, "guarded": {Resources: []string{"src"}, WaitsFor: nil}}
	if len(diags) != 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v; %v", got, want, diags)
	}
	for _, r := range m.Resources() {
		if r.Address == "user" && !reflect.DeepEqual(r.WaitsFor, []string{"node"}) {
			t.Errorf("user waits for %q", r.WaitsFor)
		}
	}
}
