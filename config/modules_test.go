package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

const webModule = `
variable "size" { type = number }
variable "ip" { default = "none" }
variable "secret" {
  default   = "open sesame"
  sensitive = true
}
locals { path = "${path.module}/x" }
resource "disk" {
  count  = var.size
  type   = type.file
  config = { ip = var.ip, n = count.index }
}
resource "other" {
  type       = type.file
  depends_on = [resource.disk]
}
module "inner" {
  source = "./inner"
  given  = resource.disk[*].state.id
}
output "ids" { value = module.inner.given }
output "constant" { value = var.size }
output "secret" {
  value     = var.secret
  sensitive = true
}
`

const innerModule = `
variable "given" { type = list(string) }
resource "leaf" {
  type   = type.file
  config = { first = var.given[0] }
}
output "given" { value = [for g in var.given : upper(g)] }
`

func TestModules_ResolveTypesVariablesAndOutputs(t *testing.T) {
	t.Parallel()
	m := loadFiles(t, map[string]string{"main.hcl": `
type "file" {
  image   = "acme/file:1"
  network = "none"
}
resource "first" { type = type.file }
resource "early" { type = "x" }
module "web" {
  source     = "./web"
  for_each   = { a = 1, b = 2 }
  size       = each.value
  ip         = resource.first.state.ip
  depends_on = [resource.early]
}
resource "user" {
  type   = "x"
  config = { id = module.web["a"].ids[0], size = module.web["b"].constant }
}
resource "after" {
  type       = "x"
  depends_on = [module.web["b"]]
}
output "all" { value = { for k, w in module.web : k => w.constant } }
`, "web": webModule, "web/inner": innerModule})
	want := `after: module.web["b"].disk[0](depends_on) module.web["b"].disk[1](depends_on) module.web["b"].inner.leaf(depends_on) module.web["b"].other(depends_on)
early:
first:
module.web["a"].disk[0]: early(depends_on) first
module.web["a"].module.inner.leaf: early(depends_on) module.web["a"].disk[0]
module.web["a"].other: early(depends_on) module.web["a"].disk[0](depends_on)
module.web["b"].disk[0]: early(depends_on) first
module.web["b"].disk[1]: early(depends_on) first
module.web["b"].module.inner.leaf: early(depends_on) module.web["b"].disk[0] module.web["b"].disk[1]
module.web["b"].other: early(depends_on) module.web["b"].disk[0](depends_on) module.web["b"].disk[1](depends_on)
user: early module.web["a"].disk[0]
`
	want = strings.ReplaceAll(want, `["b"].inner.leaf`, `["b"].module.inner.leaf`)
	if got := edgesOf(m); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	disk := m.instances.Find(`module.web["b"].disk[1]`).Resource
	if disk.TypeRef != "acme/file:1" || disk.Settings.Network != "none" {
		t.Errorf("%+v", disk)
	}
	scope := States{`module.web["a"].disk[0]`: {Known: []byte(`{"id":"d0"}`), Complete: true}, "first": {Known: []byte(`{"ip":"1.2.3.4"}`), Complete: true}}
	for address, value := range map[string]string{
		"user":                              `{"id":"D0","size":2}`,
		`module.web["b"].disk[1]`:           `{"ip":"1.2.3.4","n":1}`,
		`module.web["a"].module.inner.leaf`: `{"first":"d0"}`,
	} {
		if got, diags := m.Config(address, scope); len(diags) > 0 || string(got.Value) != value {
			t.Errorf("%s: %s, want %s %v", address, got.Value, value, diags)
		}
	}
	got, diags := m.Config(`module.web["b"].module.inner.leaf`, scope)
	if len(diags) > 0 || !reflect.DeepEqual(got.Unknown, map[string]string{"/first": `module.web["b"].disk[0].state.id, module.web["b"].disk[1].state.id`}) {
		t.Errorf("%v %v", got.Unknown, diags)
	}
	outputs, diags := m.Outputs(scope)
	if s := outputsText(outputs); len(diags) > 0 || s != `[all {"a":1,"b":2}]` {
		t.Errorf("%s %v", s, diags)
	}
	if !strings.Contains(strings.Join(m.Secrets(), " "), "open sesame") {
		t.Errorf("%q", m.Secrets())
	}
}

// Modules that are read from disk are carried by the sources, and come back from
// there when nothing is on disk any more.
func TestModules_AreCarried(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("root/main.hcl", `module "m" { source = "../shared" }
output "text" { value = module.m.text }
output "dirs" { value = module.m.dirs }`)
	write("shared/main.hcl", `output "text" { value = file("${path.module}/a.txt") }
output "dirs" { value = [path.module, path.root, path.cwd, fileset(path.module, "*.txt")] }`)
	write("shared/a.txt", "from the module")
	src, diags := Find(filepath.Join(dir, "root"), nil, nil)
	fatal(t, diags)
	m, diags := Load(src, nil, Builtins{})
	fatal(t, diags)
	outputs := func(m *Manifest) string {
		list, diags := m.Outputs(nil)
		fatal(t, diags)
		return outputsText(list)
	}
	before := outputs(m)
	want := strings.ReplaceAll(`[dirs ["DIR/shared","DIR/root","DIR/root",["a.txt"]]] [text "from the module"]`, "DIR", dir)
	if before != want {
		t.Errorf("%s, want %s", before, want)
	}
	carried := m.Sources()
	carried.Replay = true
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	again, diags := Load(carried, nil, Builtins{})
	fatal(t, diags)
	if got := outputs(again); got != before {
		t.Errorf("%s, before %s", got, before)
	}
}

// A mistake in a module says which, and where it is called with the value.
func TestModuleMistakes_NameTheModuleAndItsCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ root, web, want string }{
		"validation": {`module "web" {
  source = "./web"
  n      = 3
}`, `variable "n" {
  validation {
    condition     = var.n < 3
    error_message = "Too many: ${var.n}."
  }
}`, "web/main.hcl:3:21 Too many: 3.\nThis was checked by the validation of the variable \"n\" of module.web. The value is given at main.hcl:1."},
		"type": {`module "web" {
  source = "./web"
  n      = ["x"]
}`, `variable "n" { type = number }`, `main.hcl:3:12 The value of the variable "n" of the module "web" does not fit: it must be a number`},
		"unknown output": {`module "web" { source = "./web" }
output "o" { value = module.web.adress }`, `output "address" { value = 1 }`, `main.hcl:2:22 The module "web" has no output "adress": there is only address. Did you mean "address"?`},
		"inside": {`module "web" { source = "./web" }`, `resource "a" {
  type   = "x"
  config = { v = local.missing }
}`, `web/main.hcl:3:18 Local value "missing" is not declared`},
		"not seen": {`module "web" { source = "./web" }
resource "outside" { type = "x" }`, `resource "a" {
  type   = "x"
  config = { v = resource.outside.state.x }
}`, `web/main.hcl:3:18 Resource "outside" is not declared`},
		"plug":  {`module "web" { source = "./web" }`, `plug "p" { path = "/x" }`, `web/main.hcl:1:1 A plug gives away a file of this host`},
		"state": {`module "web" { source = "./web" }`, `deployster { state = "x" }`, `web/main.hcl:1:14 A module has no state of its own`},
		"encryption": {`module "web" { source = "./web" }`, `deployster {
  encryption {}
}`, `web/main.hcl:2:3 A module has no state of its own: only the root manifest configures encryption`},
		"cycle": {`module "web" { source = "./web" }`, `module "back" { source = "../web" }`,
			"web/main.hcl:1:26 web would be needed to read itself, without end:\n  module \"web\" (main.hcl:1) is web\n  module \"back\" (web/main.hcl:1) is web"},
		"circle through": {`module "web" {
  source = "./web"
  n      = module.web.n
}`, `variable "n" {}
output "n" { value = var.n }`, "module.web.output.n refers to module.web.var.n"},
		"dynamic type": {`module "web" {
  source = "./web"
  n      = resource.r.state.image
}
resource "r" { type = "x" }`, `variable "n" {}
resource "a" { type = var.n }`, `web/main.hcl:2:23 var.n is made of a resource where the module is called, and the type of a resource must be known`},
		"once": {`module "web" { source = "./web" }
output "o" { value = module.web["a"].x }`, `output "x" { value = 1 }`, `main.hcl:2:22 The module "web" has no output "a"`},
		"several": {`module "web" {
  source = "./web"
  count  = 2
}
output "o" { value = module.web.x }`, `output "x" { value = 1 }`, `main.hcl:5:22 module.web has instances, because of its count: write module.web[0].`},
	} {
		_, diags := Load(inMemory(t, map[string]string{"main.hcl": c.root, "web": c.web}), nil, Builtins{})
		found := false
		var all []string
		for _, d := range diags {
			place := ""
			if d.Range != nil {
				place = d.Range.Filename + ":" + strconv.Itoa(d.Range.Start.Line) + ":" + strconv.Itoa(d.Range.Start.Column) + " "
			}
			all = append(all, place+d.Detail)
			found = found || strings.Contains(place+d.Detail, c.want)
			checkDiagnostic(t, d)
		}
		if !found || len(diags) != 1 {
			t.Errorf("%s:\n got %s\nwant %s", name, strings.Join(all, "\n     "), c.want)
		}
	}
}

// A variable that is made of a resource is validated as soon as it is known.
func TestModuleVariables_AreValidatedLate(t *testing.T) {
	t.Parallel()
	m := loadFiles(t, map[string]string{"main.hcl": `
resource "r" { type = "x" }
variable "secret" {
  default   = { user = "me" }
  sensitive = true
}
module "web" {
  source  = "./web"
  zone    = resource.r.state.zone
  account = var.secret
}
`, "web": `
variable "zone" {
  type     = string
  nullable = false
  validation {
    condition     = startswith(var.zone, "europe-") && local.dashes == 2
    error_message = "Not in Europe: ${var.zone}."
  }
}
variable "account" { type = object({ user = string, keys = optional(list(string), ["k"]) }) }
locals { dashes = length(split("-", var.zone)) }
resource "inside" {
  type   = "x"
  config = { zone = var.zone, account = var.account }
}
`})
	scope := func(zone string) States {
		return States{"r": {Known: []byte(`{"zone":` + zone + `}`), Complete: true}}
	}
	got, diags := m.Config("module.web.inside", scope(`"europe-west"`))
	if len(diags) > 0 || string(got.Value) != `{"account":{"keys":["k"],"user":"me"},"zone":"europe-west"}` || !reflect.DeepEqual(got.Sensitive, []string{"/account"}) {
		t.Errorf("%s %v %v", got.Value, got.Sensitive, diags)
	}
	for zone, want := range map[string]string{`"us-east"`: `Not in Europe: us-east.`, `"europe"`: "Not in Europe: europe.", `["x"]`: "does not fit: it must be text"} {
		if _, diags := m.Config("module.web.inside", scope(zone)); len(diags) != 1 || !strings.Contains(diags[0].Detail, want) {
			t.Errorf("%s: %v", zone, diags)
		}
		if _, diags := m.Outputs(scope(zone)); len(diags) != 1 || !strings.Contains(diags[0].Detail, want) {
			t.Errorf("outputs with %s: %v", zone, diags)
		}
	}
}

// Who reads an output of a module comes after what the module depends on, whatever the
// value is made of.
func TestModules_ReadersWait(t *testing.T) {
	t.Parallel()
	m := loadFiles(t, map[string]string{"main.hcl": `
resource "early" { type = "x" }
resource "first" { type = "x" }
module "m" {
  source     = "./web"
  depends_on = [resource.early]
}
module "free" { source = "./web/inner" }
locals {
  name  = "n-${module.m.plain}"
  list  = module.m.list
  mixed = { names = ["k"], of = resource.first.state.id }
}
output "of" { value = module.m.plain }
module "reader" {
  source = "./web/named"
  name   = local.name
}
module "many" {
  source   = "./web/named"
  for_each = module.m.list
  name     = "x"
}
resource "direct" {
  type   = "x"
  config = { a = module.m.plain }
}
resource "local" {
  type   = "x"
  config = { a = local.name }
}
resource "nested" {
  type   = "x"
  config = { a = module.m.nested }
}
resource "each" {
  type     = "x"
  for_each = module.m.list
}
resource "through" {
  type     = "x"
  for_each = local.list
}
resource "counted" {
  type  = "x"
  count = length(local.list)
}
module "passed" {
  source = "./web/each"
  names  = local.list
}
resource "partly" {
  type     = "x"
  for_each = toset(local.mixed.names)
}
resource "none" {
  type   = "x"
  config = { a = module.free.plain }
}
`, "web": `
output "plain" { value = "p" }
output "list" { value = toset(["k"]) }
resource "held" { type = "x" }
module "inner" {
  source     = "./inner"
  depends_on = [resource.held]
}
output "nested" { value = module.inner.plain }
resource "inside" {
  type   = "x"
  config = { a = module.inner.plain }
}
`, "web/inner": `
variable "v" { default = "w" }
output "plain" { value = var.v }
`, "web/named": `
variable "name" { type = string }
resource "r" {
  type   = "x"
  config = { a = var.name }
}
`, "web/each": `
variable "names" { type = set(string) }
resource "r" {
  type     = "x"
  for_each = toset(var.names)
}
`})
	want := `counted[0]: early
direct: early
each["k"]: early
early:
first:
local: early
module.m.held: early(depends_on)
module.m.inside: early module.m.held
module.many["k"].r: early(depends_on)
module.passed.r["k"]: early
module.reader.r: early
nested: early module.m.held
none:
partly["k"]:
through["k"]: early
`
	if got := edgesOf(m); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	if reach, _ := m.OutputReach(); !reflect.DeepEqual(reach["of"].Resources, []string{"early"}) {
		t.Errorf("the output waits for %v", reach["of"].Resources)
	}
}

// What is for the whole run is declared in the root manifest only: in a module it is an error that names the right place.
func TestModules_HaveNothingOfTheRoot(t *testing.T) {
	t.Parallel()
	for block, want := range map[string]string{
		`host "x" { address = "x" }`:                                "A host in a module: Hosts are declared in the root manifest only. Declare it there, and pass it as a variable, for example target = host.x;",
		`artifact "x" { type = "t" }`:                               "An artifact in a module",
		`publish "x" { artifact = "t" }`:                            "A publish in a module",
		`remote_state "x" { url = "u" }`:                            "A remote_state in a module",
		`secret "x" { type = "t" }`:                                 "A secret block in a module",
		"notify \"x\" {\n  type = \"t\"\n  on = [\"report.ok\"]\n}": "A notify block in a module",
		"operation \"x\" {\n  resource = resource.r\n  run = \"a\"\n  schedule = \"@daily\"\n}": "An operation in a module",
		`plug "x" { path = "/x" }`:                                   "A plug in a module",
		`semaphore "x" { slots = 1 }`:                                "A semaphore in a module",
		`exclusive "x" { type = "t" }`:                               "An exclusive set in a module",
		"policy \"x\" {\n  level = \"mandatory\"\n  type = \"t\"\n}": "A policy in a module",
	} {
		_, diags := loadWith(t, map[string]string{"main.hcl": "module \"m\" { source = \"./m\" }\n", "m": block + "\n"})
		if said := diags.Error(); strings.Count(said, want) != 1 || !strings.Contains(said, "main.hcl:1: "+want) {
			t.Errorf("%s\nsays %q, want %q", block, said, want)
		}
	}
}
