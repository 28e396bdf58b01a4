package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"deployster/internal/base/diag"
)

// Each use of what is deprecated is a warning at its place, once.
func TestDeprecated_WarnsAtEachUse(t *testing.T) {
	t.Parallel()
	m, diags := loadWith(t, map[string]string{"main.hcl": `
variable "region" {
  default    = "eu"
  deprecated = "Use zone."
}
module "web" {
  source = "./web"
  size   = 1
}
module "many" {
  count  = 2
  source = "./web"
}
resource "a" {
  type   = module.web.image
  config = { url = module.web.url, again = module.web.url, good = module.web.address }
}
output "all" { value = module.many[*].url }
output "own" {
  value      = var.region
  deprecated = "Nobody reads it here"
}
locals { whole = module.web }
`, "web": `
variable "size" {
  default    = 0
  deprecated = "Use room"
}
output "url" {
  value      = "u"
  deprecated = "Use address!"
}
output "address" { value = "u" }
output "image" {
  value      = "x"
  deprecated = "Name the image."
}
output "size" { value = var.size }
`}, "region=us")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, r := range m.Resources() {
		_, more := m.Config(r.Address, nil)
		diags = append(diags, more...)
	}
	var got []string
	for _, d := range diags {
		line := 0
		if d.Range != nil {
			line = d.Range.Start.Line
		}
		if d.Severity != diag.Warning || d.Range.Filename != "main.hcl" {
			t.Errorf("%v", d)
		}
		_, advice, _ := strings.Cut(d.Detail, "): ")
		got = append(got, fmt.Sprint(line, " ", advice))
	}
	slices.Sort(got)
	if text := strings.Join(got, "|"); text != "15 Name the image.|16 Use address!|16 Use address!|18 Use address!|2 Use zone.|"+
		"23 Name the image.|23 Use address!|8 Use room." {
		t.Errorf("%s\n%v", text, diags)
	}
}

// The value of an output has its type, also while it is not known, and for the callers of a module.
func TestOutputTypes_AreKept(t *testing.T) {
	t.Parallel()
	m := loadFiles(t, map[string]string{"main.hcl": `
module "web" { source = "./web" }
output "v" {
  type  = list(number)
  value = ["1", 2]
}
output "ports" { value = module.web.servers["a"].port + 1 }
output "tls" { value = module.web.servers["a"].tls }
`, "web": `
resource "r" { type = "x" }
output "servers" {
  type  = map(object({ port = number, tls = optional(bool, true) }))
  value = { a = { port = resource.r.state.port } }
}
`})
	outputs, diags := m.Outputs(States{"module.web.r": {Known: []byte(`{"port":"80"}`), Complete: true}})
	fatal(t, diags)
	var got []string
	for _, o := range outputs {
		got = append(got, o.Name+" "+string(o.Value))
	}
	if text := strings.Join(got, ", "); text != "ports 81, tls true, v [1,2]" {
		t.Error(text)
	}
	_, diags = m.Outputs(States{"module.web.r": {Known: []byte(`{"port":"many"}`), Complete: true}})
	if text := details(diags); !strings.Contains(text, `The value of the output "servers" must be`) || !strings.Contains(text, "web/main.hcl:4") {
		t.Error(text)
	}
}
