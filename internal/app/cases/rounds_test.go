package cases

import (
	"strings"
	"testing"
)

// A case sees what its plan defers, and the one that follows it sees the next round: the keys are what its world has.
func TestRun_ShowsDeferredBlocks(t *testing.T) {
	t.Parallel()
	w := in(t, map[string]string{"main.hcl": `
resource "list" {
  type   = "acme/vm:1"
  config = { name = "list" }
}
resource "node" {
  for_each = toset(resource.list.state.names)
  type     = "acme/vm:1"
  config   = { name = each.key }
}
output "all" { value = keys(resource.node) }
`, "a.test.hcl": `
case "the keys are not known" {
  assert {
    condition     = plan.later["node"].sort == "block" && plan.later["node"].attribute == "for_each" && plan.summary.deferred == 1
    error_message = jsonencode(plan)
  }
}
case "the next round" {
  follows = "the keys are not known"
  world   = { "acme/vm:1" = { list = { names = ["a", "b"] } } }
  assert {
    condition     = plan.resources["node[\"a\"]"].change == "create" && plan.summary.create == 2 && !can(plan.later)
    error_message = jsonencode(plan)
  }
}
case "nothing is left" {
  follows = "the next round"
  assert {
    condition     = plan.summary.valid == 3 && plan.summary.deferred == 0
    error_message = jsonencode(plan)
  }
}
`})
	report, err := Run(t.Context(), w, Options{})
	if err != nil || len(report.Results) != 3 {
		t.Fatalf("%+v, %v", report, err)
	}
	for _, one := range report.Results {
		if len(one.Failures) > 0 {
			t.Errorf("%s: %s", one.Name, strings.Join(one.Failures, "\n"))
		}
	}
}
