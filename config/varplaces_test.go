package config

import (
	"fmt"
	"strings"
	"testing"
)

// What is wrong in a variable file is shown where it stands, in all three
// syntaxes: line and column of the innermost part that is at fault.
func TestVariableFiles_Places(t *testing.T) {
	t.Parallel()
	const ports = "object({ name = string, ports = list(number) })"
	for _, c := range []struct{ name, typ, text, Usage, err string }{
		{"a.hcl", "number", "y = 1\nx = \"many\"\n", "2:5", "must be a number"},
		{"a.hcl", ports, "x = {\n  name = \"n\"\n  ports = [1,\n    \"two\"]\n}\n", "4:5", "number is required"},
		{"a.hcl", ports, "x = {\n  name = \"n\"\n}\n", "1:1", `"ports" is required`},
		{"a.hcl", "any", "y = 1\nx = abc\n", "2:5", "Text must stand in quotes"},
		{"a.hcl", "any", "x = file(\"y\")\n", "1:5", "Functions may not"},
		{"a.hcl", "any", "x = 1\n\nx = 2\n", "3:1", "already set"},
		{"a.json", "number", "{\n  \"y\": 1,\n  \"x\": \"many\"\n}\n", "3:8", "must be a number"},
		{"a.json", ports, "{\"x\": {\"name\": \"n\",\n  \"ports\": [1, \"two\"]}}\n", "2:16", "number is required"},
		{"a.json", ports, "{\n\n  \"x\": {\"name\": \"é\", \"ports\": [1, {}]}}\n", "3:3", "number"},
		{"a.json", "any", "{\n  \"x\": 1,\n  \"x\": 2\n}\n", "3:3", "twice"},
		{"a.json", "any", "{\n  \"x\": 1\n  \"y\": 2\n}\n", "3:3", "JSON"},
		{"a.json", "any", "{\n  \"x\": [1, 2\n}\n", "3:1", "JSON"},
		{"a.json", "any", "{\n  \"x\": 1", "2:9", "ends too early"},
		{"a.json", "any", "{\n  \"x\": 1}\n{}", "3:1", "more than one"},
		{"a.json", "any", "{\n  \"x\": 1e999}", "2:13", "exponent"},
		{"a.json", "any", "{\n  \"z\": 1}", "2:3", "no manifest declares it"},
		{"a.json", "any", "{\n  \"x\": 'a'}", "2:8", "JSON"},
		{"a.yaml", "number", "y: 1\nx: many\n", "2:4", "must be a number"},
		{"a.yaml", ports, "x:\n  name: n\n  ports:\n    - 1\n    - two\n", "5:7", "number is required"},
		{"a.yaml", ports, "x: {name: é, ports: [1, \"two\"]}\n", "1:25", "number is required"},
		{"a.yaml", ports, "p: &p [1, two]\nx:\n  name: n\n  ports: *p\n", "1:11", "number is required"},
		{"a.yaml", "any", "x: 1\ny: 2\nx: 3\n", "3:1", "twice"},
		{"a.yaml", "any", "y:\n  a: 1\n  a: 2\n", "3:3", "twice"},
		{"a.yaml", "any", "y: 1\nx: [1\nz: 2\n", "3:2", "expected ',' or ']'"},
		{"a.yaml", "any", "y: 1\nx: b: c\n", "2:1", "not allowed"},
		{"a.yaml", "any", "y: 1\nx:\n\t- 1\n", "3:1", "cannot start any token"},
		{"a.yaml", "any", "y: 1\nx: }\n", "2:4", "expected node content"},
		{"a.yaml", "any", "y: 1\nx: *nosuch\n", "2:4", "undefined anchor"},
		{"a.yaml", "any", "y: 1\n---\nx: 1\n", "2:1", "extra content"},
		{"a.yaml", "any", "y: 1\nz: 1\n", "2:1", "no manifest declares it"},
		{"a.yaml", "any", "y: 1\n? [x]\n: 2\n", "2:3", "strings are allowed"},
		{"a.yaml", "any", "y: \"abc\nx: 1\n", "3:1", "unexpected end"},
	} {
		dir := tree(t, map[string]string{c.name: c.text})
		inputs, diags := FindVariables(dir, "", nil, []VarFlag{{File: true, Value: c.name}})
		if !diags.HasErrors() {
			_, more := Load(sources(dir, "variable \"x\" {\n  type = "+c.typ+"\n  default = null\n}\nvariable \"y\" {\n  default = 1\n}\nvariable \"p\" {\n  default = 1\n}\n"), inputs, Builtins{})
			diags = append(diags, more...)
		}
		if len(diags) != 1 || !strings.Contains(diags[0].Detail, c.err) {
			t.Errorf("%s %q: %v, want %q", c.name, c.text, diags, c.err)
			continue
		}
		d := diags[0]
		if got := fmt.Sprintf("%d:%d", d.Range.Start.Line, d.Range.Start.Column); got != c.Usage || d.Range.Filename != c.name {
			t.Errorf("%s %q: at %s, want %s: %s", c.name, c.text, got, c.Usage, d.Detail)
		}
		checkDiagnostic(t, d)
	}
}

// Where a value came from is named, and a sensitive one is not shown, nor the
// line that it stands in.
func TestConversion_ErrorsNameTheSource(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"v.yaml": "n: canary\n", "vars.auto.json": "{\n \"n\": \"canary\"}"})
	for _, c := range []struct {
		flags  []VarFlag
		env    string
		source string
	}{
		{nil, "DEPLOYSTER_VAR_m=canary", "the environment variable DEPLOYSTER_VAR_m"},
		{[]VarFlag{{File: false, Value: "m=canary"}}, "", "-var m=…"},
		{[]VarFlag{{File: false, Value: "n=1"}, {File: true, Value: "v.yaml"}}, "", "v.yaml:1"},
		{nil, "", "vars.auto.json:2"},
	} {
		for _, sensitive := range []bool{false, true} {
			inputs, diags := FindVariables(dir, "", []string{c.env}, c.flags)
			fatal(t, diags)
			_, diags = Load(sources(dir, fmt.Sprintf("variable \"n\" {\n  type = number\n  sensitive = %t\n}\nvariable \"m\" {\n  type = number\n  default = 1\n  sensitive = %t\n}\n", sensitive, sensitive)), inputs, Builtins{})
			if len(diags) == 0 || !strings.Contains(diags.Error(), c.source) {
				t.Errorf("%v, want %q", diags, c.source)
			}
			shown := diags.Error()
			for _, d := range diags {
				shown += fmt.Sprintf("%+v", *d.Snippet)
			}
			if strings.Contains(shown, "canary") == sensitive {
				t.Errorf("sensitive = %t: %s", sensitive, shown)
			}
		}
	}
}
