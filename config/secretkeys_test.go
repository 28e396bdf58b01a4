package config

import (
	"strings"
	"testing"
)

// Keys that are made of something sensitive are in no error: what is derived of a
// secret is not known to those that hide the secret itself.
func TestErrors_HideKeysMadeOfSecrets(t *testing.T) {
	t.Parallel()
	for _, block := range []string{
		`depends_on = [resource.r[strrev(var.s)]]`,
		`dependencies = { d = resource.r[keys(var.obj)[0]] }`,
		`config = { "$unknown${strrev(var.s)}" = 1 }`,
		`config = { x = { "$unknown${strrev(var.s)}" = 1 } }`,
		"config = { (strrev(var.s)) = 1 }\n  lifecycle {\n    ignore_changes = [zzz]\n  }",
		"config = { x = { (strrev(var.s)) = 1 } }\n  lifecycle {\n    ignore_changes = [x.zzz]\n  }",
		"config = { x = { (strrev(var.s)) = { y = 1 } } }\n  lifecycle {\n    ignore_changes = [x[\"2retnuh\"].zzz]\n  }",
	} {
		m, diags := Load(inMemory(t, map[string]string{"main.hcl": `
variable "s" {
  sensitive = true
  default   = "hunter2"
}
variable "obj" {
  sensitive = true
  default   = { "2retnuh" = 1 }
}
resource "r" {
  for_each = toset(["a"])
  type     = "x"
}
resource "b" {
  type = "x"
  ` + block + `
}
`}), nil, Builtins{})
		if !diags.HasErrors() {
			_, diags = m.Config("b", nil)
		}
		for _, d := range diags {
			if strings.Contains(d.Summary+d.Detail, "2retnuh") && !strings.Contains(block, `"2retnuh"`) || strings.Contains(d.Detail, "is only") {
				t.Errorf("%s\n%s: %s", block, d.Summary, d.Detail)
			}
		}
		if !diags.HasErrors() {
			t.Errorf("%s\nno error", block)
		}
	}
}
