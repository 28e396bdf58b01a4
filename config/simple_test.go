package config

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"deployster/config/instance"
	"deployster/config/results"
	"deployster/internal/base/diag"
)

// agreesSimply: what is written straight is what the evaluator makes, without a
// diagnostic. It reports whether the config was plain.
func agreesSimply(t testing.TB, m *Manifest, i *instance.Instance, s States) bool {
	t.Helper()
	got, ok := m.instances.Modules.Simple(i, s)
	if !ok {
		return false
	}
	_, want, diags := results.Config(m.instances.Modules.Evaluator(s), i)
	if len(diags) > 0 || string(got.Value) != string(want.Value) || !reflect.DeepEqual(got.Unknown, want.Unknown) || len(want.Sensitive)+len(want.Ignored) > 0 {
		t.Errorf("%s in %v: %s %v, but the evaluator makes %s %v %v (%v)", i.Address, s, got.Value, got.Unknown, want.Value, want.Unknown, want.Sensitive, diags)
	}
	return true
}

// aroundSimple is what the configs refer to that are tried here and in harmless_test.go.
const aroundSimple = `
variable "text" { default = "a \"b\" <c>\n" }
variable "number" { default = 12 }
variable "share" { default = 0.5 }
variable "on" { default = true }
variable "huge" { default = 1e30 }
variable "none" {
  type    = string
  default = null
}
variable "object" { default = { a = 1 } }
variable "secret" {
  default   = "s"
  sensitive = true
}
locals {
  here  = "l-${var.text}"
  there = resource.other.state.size
}
resource "other" { type = "x" }
resource "many" {
  type  = "x"
  count = 2
}
resource "tried" {
  type   = "x"
  config = `

const schemaOfOther = `{"type":"object","properties":{"name":{"type":"string"},"size":{"type":"integer"},"deep":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false,"required":["a"]}},"additionalProperties":false,"required":["name","size","deep"]}`

func simpleScopes() []States {
	var all []States
	for _, known := range []string{"", `{"name":"n\u00e9","size":7,"deep":{"a":"x"}}`, `{"name":"n\n<","size":-70,"deep":{"a":"x"}}`,
		`{"size":0.5,"name":null}`, `{"size":-0}`, `{"size":1e3,"name":true}`, `{"size":1234567890123456789}`, `{`} {
		for _, complete := range []bool{false, true} {
			for _, schema := range []string{"", schemaOfOther} {
				for _, hidden := range [][]string{nil, {"/name"}} {
					other := ResourceState{Complete: complete && known != "", Sensitive: hidden}
					if known != "" {
						other.Known = []byte(known)
					}
					if schema != "" {
						other.Schema = []byte(schema)
					}
					all = append(all, States{"other": other})
				}
			}
		}
	}
	return append(all, nil)
}

func triedIn(t *testing.T, config string) (*Manifest, *instance.Instance, diag.Diagnostics) {
	t.Helper()
	m, diags := Load(sources("/w", aroundSimple+config+"\n}\n"), nil, Builtins{Version: "0.1.0", Home: "/"})
	i := m.instances.Find("tried")
	if i == nil {
		t.Fatalf("%s: %v", config, diags)
	}
	return m, i, diags
}

// What is plain is written as the evaluator would; what it would make anything
// else of is not plain. The number is of how many scopes, of 65.
func TestSimpleConfigs_EqualTheEvaluator(t *testing.T) {
	t.Parallel()
	scopes := simpleScopes()
	for config, want := range map[string]int{
		`{}`: 65,
		`{ b = "x", a = 1, c = [true, { e = "y", d = [] }], f = "${var.number}-${var.on}" }`: 65,
		`{ a = var.text, b = local.here, c = "x\t\u0001-${var.text}", d = var.number }`:      65,
		`{ a = resource.other.state.name }`:                                                  21,
		`{ a = "x-${resource.other.state.size}" }`:                                           8,
		`{ a = [{ b = resource.other.state.size }] }`:                                        17,
		`{ a = resource.other.state.deep }`:                                                  9,
		`{ a = resource.other.state.gone }`:                                                  11,
		`{ a = resource.other.state.deep.a }`:                                                0,
		`{ a = resource.other.state["name"] }`:                                               0,
		`{ a = resource.other.name }`:                                                        0,
		`{ a = local.there }`:                                                                0,
		`{ a = resource.many[0].state.name }`:                                                0,
		`{ a = resource.many.state.name }`:                                                   0,
		`{ a = var.secret }`:                                                                 0,
		`{ a = "x-${var.secret}" }`:                                                          0,
		`{ a = var.none }`:                                                                   0,
		`{ a = null }`:                                                                       0,
		`{ a = var.object.a }`:                                                               0,
		`{ a = var.object }`:                                                                 0,
		`{ a = var.share }`:                                                                  0,
		`{ a = var.huge }`:                                                                   0,
		`{ a = 0.1 }`:                                                                        0,
		`{ a = -1 }`:                                                                         0,
		`{ a = "e\u0301" }`:                                                                  0,
		`{ a = "${var.text}" }`:                                                              0,
		`{ a = 1, a = 2 }`:                                                                   0,
		`{ (var.text) = 1 }`:                                                                 0,
		`{ "a" = 1 }`:                                                                        0,
		`{ a = upper("x") }`:                                                                 0,
		`var.object`:                                                                         0,
		`[]`:                                                                                 0,
		`{ a = "` + strings.Repeat("x", 64<<10+1) + `" }`:                                    0,
		`{ a = [` + strings.Repeat("1,", 200) + `] }`:                                        0,
	} {
		m, i, _ := triedIn(t, config)
		got := 0
		for _, s := range scopes {
			if agreesSimply(t, m, i, s) {
				got++
			}
		}
		if got != want {
			t.Errorf("%.100s: simple in %d scopes, not in %d", config, got, want)
		}
	}
}

// Configs put together of many parts, in all scopes.
func TestSimpleConfigs_OfManyParts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	leaves := []string{`"x"`, `""`, `7`, `0`, `true`, `var.text`, `var.number`, `var.on`, `local.here`, `resource.other.state.name`, `resource.other.state.size`,
		`resource.other.state.deep`, `"a-${var.number}"`, `"${var.text}${local.here}"`, `"a-${resource.other.state.name}"`, `"%%{x} $${y}"`, `1234567890123456`}
	var value func(depth int) string
	value = func(depth int) string {
		switch n := random.IntN(6); {
		case n == 0 && depth < 4:
			return "[" + value(depth+1) + ", " + value(depth+1) + "]"
		case n == 1 && depth < 4:
			return fmt.Sprintf("{ k%d = %s, a = %s, null = %s }", random.IntN(20), value(depth+1), value(depth+1), value(depth+1))
		}
		return leaves[random.IntN(len(leaves))]
	}
	scopes, plain := simpleScopes(), 0
	for range 150 {
		m, i, _ := triedIn(t, fmt.Sprintf("{ z = %s, b = %s, a_1 = %s }", value(0), value(0), value(0)))
		for range 8 {
			if agreesSimply(t, m, i, scopes[random.IntN(len(scopes))]) {
				plain++
			}
		}
	}
	if plain < 200 {
		t.Errorf("only %d were plain", plain)
	}
}
