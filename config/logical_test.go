package config

import (
	"fmt"
	"strings"
	"testing"
)

// A null operand of && and || is an error with its place, wherever an expression is evaluated:
// the library takes it for false.
func TestLogicalOperators_RefuseNull(t *testing.T) {
	t.Parallel()
	const variable = "variable \"on\" {\n  type    = bool\n  default = null\n}\n"
	resource := func(attribute string) string { return "resource \"r\" {\n  type = \"t\"\n  " + attribute + "\n}\n" }
	for name, text := range map[string]string{
		"count":          resource("count = var.on && true ? 1 : 0"),
		"second operand": resource("count = true && var.on ? 1 : 0"),
		"both operands":  resource("count = var.on && var.on ? 1 : 0"),
		"or":             resource("count = var.on || false ? 1 : 0"),
		"decided behind": resource("count = var.on || true ? 1 : 0"),
		"for_each":       resource("for_each = [for x in [\"a\"] : x if var.on && true]"),
		"config":         resource("config = { a = true && var.on }"),
		"object":         resource("config = { for x in [\"a\"] : x => 1 if true && var.on }"),
		"template":       resource("config = { a = \"%{ if var.on && true }y%{ endif }\" }"),
		"interpolation":  resource("config = { a = \"is ${var.on && true}\" }"),
		"function":       resource("config = { a = templatestring(\"$${on && true}\", { on = var.on }) }"),
		"precondition":   resource("lifecycle {\n    precondition {\n      condition     = true && var.on\n      error_message = \"no\"\n    }\n  }"),
		"local value":    "locals {\n  a = var.on && true\n}\noutput \"o\" {\n  value = local.a\n}\n",
		"output":         "output \"o\" {\n  value = !(var.on && true)\n}\n",
		"default":        "variable \"x\" {\n  default = tobool(null) && true\n}\n",
		"nested":         "output \"o\" {\n  value = [for x in [true] : { a = [x && var.on][*] }]\n}\n",
		"error kept":     "output \"o\" {\n  value = [][0] && var.on == null\n}\n",
		"error decided":  "output \"o\" {\n  value = [][0] && false\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := Load(sources(t.TempDir(), variable+text), nil, Builtins{})
			wantNullError(t, name, fmt.Sprint(diags.Err()))
			if !diags.HasErrors() || diags[0].Range == nil || diags[0].Range.Start.Line < 5 {
				t.Errorf("%v has no place", diags)
			}
		})
	}
	for _, expr := range []string{"var.on && true", "true && var.on", "var.on || false", "[for x in [1] : x if var.on && true]"} {
		t.Run("JSON "+expr, func(t *testing.T) {
			src := sources(t.TempDir(), fmt.Sprintf(`{"variable": {"on": {"type": "bool", "default": null}},
"output": {"o": {"value": "${%s}"}}}`, expr))
			src.Manifests[0].Path = "main.hcl.json"
			_, diags := Load(src, nil, Builtins{})
			wantNullError(t, "", fmt.Sprint(diags.Err()))
			if !diags.HasErrors() || diags[0].Range == nil || diags[0].Range.Start.Line != 2 {
				t.Errorf("%v has no place", diags)
			}
		})
	}
}

func wantNullError(t *testing.T, name, text string) {
	t.Helper()
	want := "argument must not be null"
	if strings.HasPrefix(name, "error") {
		want = "Invalid index"
	}
	if !strings.Contains(text, want) {
		t.Errorf("%s, want %q", text, want)
	}
}
