package config

import (
	"encoding/json"
	"strings"
	"testing"
)

// A set has its keys for values, also where it is made of a state and the state is not
// known: no instance is called one that is gone for that.
func TestExpand_ValuesOfASetMadeOfAState(t *testing.T) {
	t.Parallel()
	known := States{"a": {Known: json.RawMessage(`{"x":"one"}`), Complete: true}}
	for _, set := range []string{
		`toset([resource.a.state.x])`,
		`toset([resource.a.state.x, "b"])`,
		`toset(concat(["b"], [resource.a.state.x]))`,
		`setunion(toset(["b"]), toset([resource.a.state.x]))`,
		`toset([for x in ["u"] : "${x}-${resource.a.state.x}"])`,
	} {
		m := load(t, `
resource "a" {
  type = "x"
}
resource "b" {
  for_each = `+set+`
  type     = "x"
  config   = { k = each.key, v = each.value }
}
`)
		next, _, diags := m.Expand(m.Pending(), known)
		fatal(t, diags)
		for _, r := range next.Resources()[1:] {
			c := config(t, next, r.Address, known)
			_, key, _ := strings.Cut(strings.TrimSuffix(r.Address, `"]`), `["`)
			if want := `{"k":"` + key + `","v":"` + key + `"}`; string(c.Value) != want {
				t.Errorf("%s: %s is %s, want %s", set, r.Address, c.Value, want)
			}
		}
	}
}

// One that is really gone is said, of a set as of a map.
func TestExpand_AKeyOfASetThatIsGone(t *testing.T) {
	t.Parallel()
	m := load(t, `
resource "a" {
  type = "x"
}
resource "b" {
  for_each = toset([resource.a.state.x])
  type     = "x"
  config   = { v = each.value }
}
`)
	next, _, diags := m.Expand(m.Pending(), States{"a": {Known: json.RawMessage(`{"x":"one"}`), Complete: true}})
	fatal(t, diags)
	_, diags = next.Config(`b["one"]`, States{"a": {Known: json.RawMessage(`{"x":"two"}`), Complete: true}})
	if len(diags) != 1 || diags[0].Summary != "Instance no longer declared" {
		t.Errorf("%v", diags)
	}
}
