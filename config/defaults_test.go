package config

import (
	"fmt"
	"strings"
	"testing"
)

const defaultsManifest = `
variable "region" { default = "eu" }
variable "password" {
  default   = "open sesame"
  sensitive = true
}
locals { merged = merge({ size = 7 }, { tags = null }) }
type "net" {
  image    = "acme/net:1"
  defaults = { provider = { region = var.region, of = resource.root.state.id }, size = 1, key = var.password }
}
resource "root" { type = "acme/root:1" }
resource "plain" { type = type.net }
resource "own" {
  type   = "${type.net}#kind"
  config = { size = 2, provider = null }
}
resource "computed" {
  type   = type.net
  config = local.merged
}
resource "reads" {
  type   = "acme/other:1"
  config = { region = resource.plain.config.provider.region }
}
module "web" {
  source = "./web"
}
`

const defaultsModule = `
locals { size = 5 }
resource "inner" {
  count  = 1
  type   = type.net
  config = { size = local.size }
}
module "deep" {
  source = "./deep"
}
`

const defaultsDeep = `
resource "leaf" { type = type.net }
type "other" {
  image    = "acme/other:1"
  defaults = { dir = basename(path.module) }
}
resource "local" { type = type.other }
`

// What the type says comes into the configs, in modules too, is evaluated where it is
// written, and makes edges as anything else does, but where the config has a value itself.
func TestDefaults_FillInUnlessTheConfigHasAValue(t *testing.T) {
	t.Parallel()
	m := loadFiles(t, map[string]string{"main.hcl": defaultsManifest, "web": defaultsModule, "web/deep": defaultsDeep})
	scope := States{"root": {Known: []byte(`{"id":"r-1"}`), Complete: true}}
	for address, want := range map[string]string{
		"plain":                        `{"key":"open sesame","provider":{"of":"r-1","region":"eu"},"size":1} [/key] [root]`,
		"own":                          `{"key":"open sesame","provider":null,"size":2} [/key] []`,
		"computed":                     `{"key":"open sesame","provider":{"of":"r-1","region":"eu"},"size":7,"tags":null} [/key] [root]`,
		"reads":                        `{"region":"eu"} [] [plain root]`,
		"module.web.inner[0]":          `{"key":"open sesame","provider":{"of":"r-1","region":"eu"},"size":5} [/key] [root]`,
		"module.web.module.deep.leaf":  `{"key":"open sesame","provider":{"of":"r-1","region":"eu"},"size":1} [/key] [root]`,
		"module.web.module.deep.local": `{"dir":"deep"} [] []`,
	} {
		got, diags := m.Config(address, scope)
		if len(diags) > 0 {
			t.Errorf("%s: %v", address, diags)
			continue
		}
		edges := []string{}
		for _, i := range m.Resources() {
			if i.Address == address {
				for _, e := range i.Edges {
					edges = append(edges, e.To)
				}
			}
		}
		if text := fmt.Sprint(string(got.Value), " ", got.Sensitive, " ", edges); text != want {
			t.Errorf("%s is %s, want %s", address, text, want)
		}
	}
	got, _ := m.Config("plain", States{})
	if fmt.Sprint(got.Unknown) != "map[/provider/of:resource.root.state.id]" {
		t.Errorf("unknown is %v", got.Unknown)
	}
	var from strings.Builder
	for _, in := range m.Inputs("plain", "/provider/region", scope) {
		fmt.Fprintf(&from, "%s %d; ", in.What, in.Range.Start.Line)
	}
	if from.String() != "config 10; local.type.net.defaults.provider 10; var.region 2; resource.root.state.id 12; " {
		t.Errorf("the value comes from %s", from.String())
	}
}
