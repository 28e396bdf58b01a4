package config

import (
	"fmt"
	"testing"
)

// A trigger is a resource, all instances of a block, or one value; the resource waits
// for it.
func TestTriggers_NameABlockAResourceOrAValue(t *testing.T) {
	t.Parallel()
	const blocks = `
resource "base" { type = "x" }
resource "one" {
  type   = "x"
  config = { v = resource.base.state.v }
}
resource "many" {
  for_each = toset(["a", "b"])
  type     = "x"
}
`
	for triggers, want := range map[string]string{
		"resource.one":                        "[{one []}] [{one reference}]",
		"resource.one.state.list[0].x":        "[{one [state list 0 x]}] [{one reference}]",
		"resource.many":                       `[{many["a"] []} {many["b"] []}] [{many["a"] reference} {many["b"] reference}]`,
		`resource.many["b"].config`:           `[{many["b"] [config]}] [{many["b"] reference}]`,
		"resource.many[each.key]":             `[{many["a"] []}] [{many["a"] reference}]`,
		"resource.one, resource.base.state.v": "[{one []} {base [state v]}] [{base reference} {one reference}]",
	} {
		m := load(t, blocks+`
resource "r" {
  for_each = toset(["a"])
  type     = "x"
  lifecycle {
    create_before_destroy = each.key == "a"
    replace_triggered_by  = [`+triggers+`]
  }
}
`)
		for _, r := range m.Resources() {
			if r.Address != `r["a"]` {
				continue
			}
			if got := fmt.Sprint(r.Triggers, " ", r.Edges); got != want {
				t.Errorf("%s: %s, want %s", triggers, got, want)
			}
			if !r.CreateFirst {
				t.Errorf("create_before_destroy is not read")
			}
		}
	}
}
