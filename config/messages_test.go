package config

import (
	"strings"
	"testing"
)

// What the messages of common mistakes must and must not say.
func TestMessages_NameTheMistakeAndItsFix(t *testing.T) {
	t.Parallel()
	const instances = "resource \"d\" {\n  type     = \"x\"\n  for_each = { a = 1, b = 2 }\n}\n"
	for _, c := range []struct{ name, text, want, not string }{
		{"missing instance", instances + `output "o" { value = resource.d["c"].state.id }`, `no instance "c": with its for_each there are "a" and "b"`, "without attributes"},
		{"far guess", `output "o" { value = foo(1) }`, `no function named "foo"`, "Did you mean"},
		{"near guess", `output "o" { value = uper("a") }`, `Did you mean "upper"?`, ""},
		{"nothing declared", `output "o" { value = var.x }`, `Variable "x" is not declared (no variables are).`, ""},
		{"splat", instances + `output "o" { value = resource.d[*].config }`, `values(resource.d)[*] for a list of all, or resource.d["KEY"] for one`, ""},
		{"default in a type", "variable \"v\" {\n  type = object({ a = optional(number, \"x\") })\n}", "a number is required", "The types are"},
		{"wrong type", "variable \"v\" {\n  type = list(strng)\n}", "The types are string, number", ""},
	} {
		var got strings.Builder
		for _, d := range diagnose(t, "main.hcl", []byte(c.text), nil, nil) {
			got.WriteString(d.Summary + ": " + d.Detail + "\n")
			if d.Snippet == nil {
				continue
			}
			for _, v := range d.Snippet.Values {
				got.WriteString(v.Name + " " + v.Text + "\n")
			}
		}
		if !strings.Contains(got.String(), c.want) || c.not != "" && strings.Contains(got.String(), c.not) {
			t.Errorf("%s:\n%s", c.name, got.String())
		}
	}
}

// Terraform asks only of the root's outputs that they say what is sensitive.
func TestOutputs_OfModulesKeepTheMark(t *testing.T) {
	t.Parallel()
	m := loadFiles(t, map[string]string{
		"main.hcl": `
module "m" { source = "./m" }
output "shown" {
  value     = module.m.pw
  sensitive = true
}
`, "m": `output "pw" { value = sensitive("open sesame") }`})
	out, diags := m.Outputs(nil)
	fatal(t, diags)
	if len(out) != 1 || !out[0].Sensitive {
		t.Errorf("%+v", out)
	}
	_, diags = Load(inMemory(t, map[string]string{
		"main.hcl": "module \"m\" { source = \"./m\" }\noutput \"shown\" { value = module.m.pw }\n",
		"m":        `output "pw" { value = sensitive("open sesame") }`}), nil, Builtins{})
	if len(diags) != 1 || diags[0].Summary != "A sensitive value would be printed" {
		t.Errorf("%v", diags)
	}
}
