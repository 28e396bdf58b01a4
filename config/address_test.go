package config

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseAddress_AcceptsResourcesInstancesAndModules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"web": "web", " resource.web ": "web", `web["a/b.c"]`: `web["a/b.c"]`, "web[0]": "web[0]", `resource.web["ü"]`: `web["ü"]`,
		"module.net": "module.net", `module.net["x"].web[1]`: `module.net["x"].web[1]`, `module.net.resource.web`: "module.net.web",
		"web[0] (deposed 12)": "web[0] (deposed 12)", "web (deposed )": "", "web (deposed x)": "", " (deposed 1)": "",
		"module.a.module.b": "module.a.module.b", `module.a.module.b.web["k"]`: `module.a.module.b.web["k"]`,
		"web\n": "", "web[\"a\nb\"]": "", "../etc": "", "module.": "", `x["`: "", "bad name": "",
		"resource": "resource", "resource.resource": "resource", `module["a"]`: `module["a"]`, "": "", "web[a]": "", "web.state": "", "1": "", "web[": "", "module": "module", "resource.": "", "web[*]": "", "a b": "", `module.net.`: "",
	} {
		got, err := ParseAddress(text)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestParseMove_WantsTwoAddressesOfOneKind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, wantFrom, wantTo, wrong string }{
		{from: "disk", to: "resource.archive", wantFrom: "disk", wantTo: "archive"},
		{from: `resource.disk["a"]`, to: "module.m.disk", wantFrom: `disk["a"]`, wantTo: "module.m.disk"},
		{from: "module.a", to: "module.b.module.a", wantFrom: "module.a", wantTo: "module.b.module.a"},
		{from: "disk", to: "module.m", wrong: "Addresses of different kinds"},
		{from: "module.m", to: "disk", wrong: "Addresses of different kinds"},
		{from: "disk", to: "resource.disk", wrong: "Moved to itself"},
		{from: "", to: "disk", wrong: "Not an address"},
		{from: "disk", to: "a b", wrong: "Not an address"},
	} {
		got, err := ParseMove(c.from, c.to)
		if got.From != c.wantFrom || got.To != c.wantTo || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q to %q: %+v, %v", c.from, c.to, got, err)
		}
	}
}

// What an output is made of, and what blocks whose instances are not known yet
// keep from being known.
func TestOutputReach_NamesResourcesAndUnknownBlocks(t *testing.T) {
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
