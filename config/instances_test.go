package config

import (
	"reflect"
	"strings"
	"testing"
)

// loadFiles loads the root manifest main.hcl and modules, by the names of their
// directories.
func loadFiles(t *testing.T, files map[string]string) *Manifest {
	t.Helper()
	m, diags := Load(inMemory(t, files), nil, Builtins{Version: "0.1.0"})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return m
}

func inMemory(t *testing.T, files map[string]string) Sources {
	dir := t.TempDir()
	src := Sources{Workspace: dir, Dir: dir, Modules: map[string][]File{}}
	for name, text := range files {
		if name == "main.hcl" {
			src.Manifests = []File{{Path: name, Bytes: []byte(text)}}
			continue
		}
		src.Modules[name] = []File{{Path: name + "/main.hcl", Bytes: []byte(text)}}
	}
	return src
}

// edgesOf writes the edges of all resources down, one resource a line.
func edgesOf(m *Manifest) string {
	var b strings.Builder
	for _, r := range m.Resources() {
		b.WriteString(r.Address + ":")
		for _, e := range r.Edges {
			b.WriteString(" " + e.To)
			if e.Origin != FromReference {
				b.WriteString("(" + string(e.Origin) + ")")
			}
		}
		if r.Waits {
			b.WriteString(" waits")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestInstances_HaveEdgesOfTheirOwn(t *testing.T) {
	t.Parallel()
	m := load(t, `
variable "keys" { default = ["a/b", "..", "ü x", "q\"uote$${x}"] }
locals { first = "a/b" }
resource "disk" {
  for_each = toset(var.keys)
  type     = "x"
  config   = { path = each.value }
}
resource "same" {
  for_each     = resource.disk
  type         = "x"
  dependencies = { d = resource.disk[each.key] }
  config       = { v = each.value.state.v, c = resource.disk[each.key].config.path }
}
resource "written" {
  for_each = { one = resource.disk["a/b"].state.v, two = 2 }
  type     = "x"
  config   = { v = each.value }
}
resource "local" {
  type   = "x"
  config = { v = resource.disk[local.first].state.v }
}
resource "all" {
  count      = 2
  type       = "x"
  config     = { i = count.index, all = values(resource.disk)[*].state.v, some = resource.count[count.index].state.v }
  depends_on = [resource.written["two"]]
}
resource "count" {
  count = 2
  type  = "x"
}
resource "splat" {
  type       = "x"
  config     = { v = resource.count[*].state.v, for = [for k in ["a/b"] : resource.disk[k].state.v] }
  depends_on = [resource.written]
}
`)
	const disks = `disk[".."] disk["a/b"] disk["q\"uote$${x}"] disk["ü x"]`
	want := `all[0]: count[0] ` + disks + ` written["two"](depends_on)
all[1]: count[1] ` + disks + ` written["two"](depends_on)
count[0]:
count[1]:
disk[".."]:
disk["a/b"]:
disk["q\"uote$${x}"]:
disk["ü x"]:
local: disk["a/b"]
same[".."]: disk[".."](dependency)
same["a/b"]: disk["a/b"](dependency)
same["q\"uote$${x}"]: disk["q\"uote$${x}"](dependency)
same["ü x"]: disk["ü x"](dependency)
splat: count[0] count[1] ` + disks + ` written["one"](depends_on) written["two"](depends_on)
written["one"]: disk["a/b"]
written["two"]:
`
	if got := edgesOf(m); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

func TestInstances_SeeEachOther(t *testing.T) {
	t.Parallel()
	m := load(t, `
resource "disk" {
  for_each = { a = 1, b = 2 }
  type     = "x"
  config   = { size = each.value * 10, key = each.key }
}
resource "vm" {
  count        = 2
  type         = "x"
  dependencies = { d = resource.disk[count.index == 0 ? "a" : "b"] }
  config       = { size = dep.d.config.size, name = dep.d.name, ip = dep.d.state.ip }
}
output "sizes" { value = { for k, d in resource.disk : k => d.config.size } }
output "ips" { value = resource.vm[*].config.ip }
output "one" { value = resource.vm[1].state.port }
`)
	scope := States{`disk["a"]`: {Known: []byte(`{"ip":"10.0.0.1"}`), Complete: true}, "vm[1]": {Known: []byte(`{"port":8}`)}}
	got, diags := m.Config("vm[0]", scope)
	if len(diags) > 0 || string(got.Value) != `{"ip":"10.0.0.1","name":"disk[\"a\"]","size":10}` {
		t.Errorf("%s %v", got.Value, diags)
	}
	got, diags = m.Config("vm[1]", scope)
	if len(diags) > 0 || !reflect.DeepEqual(got.Unknown, map[string]string{"/ip": `resource.disk["b"].state.ip`}) {
		t.Errorf("%s %v %v", got.Value, got.Unknown, diags)
	}
	outputs, diags := m.Outputs(scope)
	want := `[ips ["10.0.0.1",{"$unknown":"resource.disk[\"b\"].state.ip"}]] [one 8] [sizes {"a":10,"b":20}]`
	if s := outputsText(outputs); len(diags) > 0 || s != want {
		t.Errorf("\n got %s\nwant %s\n%v", s, want, diags)
	}
}

func outputsText(list []Output) string {
	var parts []string
	for _, o := range list {
		parts = append(parts, "["+o.Name+" "+string(o.Value)+"]")
	}
	return strings.Join(parts, " ")
}
