package config

import (
	"fmt"
	"strings"
	"testing"
)

// A value is followed through locals and other configs to variables and states.
func TestInputs_LeadToWhereAValueComesFrom(t *testing.T) {
	m := load(t, `
variable "name" {
  default = "anna"
}
variable "secret" {
  default   = "s3cret"
  sensitive = true
}
locals {
  who = "${var.name} of ${resource.town.state.name}"
}
resource "town" {
  type   = "t"
  config = { key = var.secret }
}
resource "house" {
  type   = "t"
  config = { owner = local.who, key = resource.town.config.key }
}
`, VarFlag{Value: "name=bert"})
	scope := States{"town": {Known: []byte(`{"name":"rome"}`), Complete: true}}
	shown := func(pointer string) string {
		var b strings.Builder
		for _, in := range m.Inputs("house", pointer, scope) {
			fmt.Fprintf(&b, "%d %s = %s | %s\n", in.Depth, in.What, in.Value, in.Given)
		}
		return b.String()
	}
	if got, want := shown("/owner"), `0 config = "bert of rome" | 
1 local.who = "bert of rome" | 
2 var.name = "bert" | -var name=…
2 resource.town.state.name = "rome" | 
`; got != want {
		t.Errorf("inputs:\n%s\nwant:\n%s", got, want)
	}
	if got := shown("/key"); strings.Contains(got, "s3cret") || !strings.Contains(got, "its default") {
		t.Errorf("inputs:\n%s", got)
	}
	if got := m.Inputs("nobody", "/x", scope); got != nil {
		t.Errorf("a resource that is not there has inputs: %v", got)
	}
}
