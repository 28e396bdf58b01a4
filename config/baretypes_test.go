package config

import "testing"

// As in Terraform, list and map alone are list(any) and map(any), and set alone is nothing.
func TestVariables_TakeBareListAndMap(t *testing.T) {
	t.Parallel()
	m := load(t, `
variable "l" {
  type = list
}
variable "m" {
  type    = map
  default = { a = 1, b = "x" }
}
`, VarFlag{Value: `l=[1, "a"]`})
	for expr, want := range map[string]string{
		"type(var.l)": "list(string)",
		"type(var.m)": "map(string)",
		"var.l":       "tolist([\n  \"1\",\n  \"a\",\n])",
	} {
		if got, diags := m.Evaluate(expr, nil); got != want {
			t.Errorf("%s: %s, want %s %v", expr, got, want, diags)
		}
	}
	dir := t.TempDir()
	src := sources(dir, `{"variable": {"m": {"type": "map", "default": {"a": 1}}}, "output": {"o": {"value": "${var.m}"}}}`)
	src.Manifests[0].Path = "main.hcl.json"
	if _, diags := Load(src, nil, Builtins{}); diags.HasErrors() {
		t.Errorf("in JSON: %v", diags)
	}
	for _, wrong := range []string{"set", "list(map)", "object({ a = list })", "map()"} {
		_, diags := Load(sources(dir, "variable \"x\" {\n  type    = "+wrong+"\n  default = null\n}\n"), nil, Builtins{})
		if len(diags) != 1 || diags[0].Summary != "Invalid type specification" || diags[0].Range.Start.Line != 2 {
			t.Errorf("type = %s: %v", wrong, diags)
		}
	}
	if _, diags := Load(sources(dir, "variable \"x\" {\n  type    = list\n  default = \"a\"\n}\n"), nil, Builtins{}); !diags.HasErrors() {
		t.Error("text is a list")
	}
}
