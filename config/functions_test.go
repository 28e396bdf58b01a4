package config

import (
	"strings"
	"testing"
	"time"
)

// What the table cannot have: functions that Terraform does not have, and what
// is given to them from outside.
func TestFunctions_BeyondTerraform(t *testing.T) {
	t.Parallel()
	m := tableManifest(t)
	m.set.Builtins.PlanTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for expr, want := range map[string]string{
		`base64gunzip(base64gzip("hé"))`:                 `"hé"`,
		`base64gunzip("aGk=")`:                           failed,
		`base64gunzip("!")`:                              failed,
		`setsymmetricdifference(["a", "b"], ["b", "c"])`: "toset([\n  \"a\",\n  \"c\",\n])",
		`setsymmetricdifference(["a"], ["a"])`:           `toset([])`,
		`setsymmetricdifference([0], [-0])`:              `toset([])`,
		`convert("5", number)`:                           `5`,
		`convert(["1", 2], set(string))`:                 "toset([\n  \"1\",\n  \"2\",\n])",
		`convert({ a = "1" }, object({ a = number, b = optional(list(any), [1]) }))`: "{\n  \"a\" = 1\n  \"b\" = tolist([\n    1,\n  ])\n}",
		`templatestring("$${convert(n, number) + 1}", { n = "1" })`:                  `"2"`,
		`templatestring("$${convert(n, number) + m}", { n = "1" })`:                  failed,
		`convert(null, bool)`:                   `tobool(null)`,
		`[for x in ["1"] : convert(x, number)]`: "[\n  1,\n]",
		`nonsensitive(convert({ a = sensitive("x"), b = 2 }, object({ a = string, b = string })).a)`: `"x"`,
		`convert({ a = sensitive("x"), b = 2 }, map(string)).b`:                                      `"2"`,
		`convert("x", number)`:                failed,
		`convert("5", nmber)`:                 failed,
		`convert(number, number)`:             failed,
		`convert("5", var.ns)`:                failed,
		`plantimestamp()`:                     `"2026-01-02T03:04:05Z"`,
		`formatdate("YYYY", plantimestamp())`: `"2026"`,
	} {
		got, diags := m.Evaluate(expr, nil)
		if diags.HasErrors() {
			got = failed
		}
		if got != want {
			t.Errorf("%s: %s, want %s %v", expr, got, want, diags)
		}
	}
}

// Every function must survive arguments of every kind, known and unknown,
// without a panic that reaches the user.
func TestFunctions_SurviveAnyArguments(t *testing.T) {
	t.Parallel()
	arguments := []string{`null`, `""`, `"a"`, `1e300`, `-1`, `[]`, `["a", null]`, `{}`, `{ a = [1] }`, `true`, `sensitive("s")`, `sensitive([sensitive("x")])`,
		`resource.r.state.x`, `[resource.r.state.x]`, `{ k = resource.r.state.x }`, `toset(["a"])`, `tomap({ a = "b" })`, `tolist([resource.r.state.x])`}
	for name := range newManifest(Sources{}, Builtins{}).tree.Root.Functions {
		var b strings.Builder
		b.WriteString("resource \"r\" {\n  type = \"x\"\n}\nresource \"a\" {\n  type = \"x\"\n  config = {\n")
		n := 0
		for _, first := range arguments {
			for _, args := range []string{first, first + ", " + first, first + `, "a"`, first + ", 1, 1"} {
				n++
				b.WriteString("    " + name + strings.Repeat("x", n) + " = try(" + name + "(" + args + "), 0)\n")
			}
		}
		_, diags := Load(sources(t.TempDir(), b.String()+"  }\n}\n"), nil, Builtins{})
		for _, d := range diags {
			if strings.Contains(d.Detail, "bug in deployster") || strings.Contains(d.Detail, "panic") {
				t.Errorf("%s: %v", name, d)
			}
		}
	}
}
