package config

import (
	"os"
	"strings"
	"testing"
)

// judgeText loads a manifest with one policy, and returns what its rules deny of a plan.
func judgeText(t *testing.T, text, plan string) (string, string) {
	t.Helper()
	m, diags := Load(Sources{Workspace: "/w", Dir: "/w", Manifests: []File{{Path: "main.hcl", Bytes: []byte(text)}}}, nil,
		Builtins{Version: "0.1.0"})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	value, err := NewPlanValue([]byte(plan))
	if err != nil {
		t.Fatal(err)
	}
	found, diags := m.Policies().Judge(m.Policies().List[0], value)
	var lines []string
	for _, f := range found {
		lines = append(lines, f.Address+": "+f.Message)
	}
	if diags.HasErrors() {
		return strings.Join(lines, "\n"), diags[0].Summary
	}
	return strings.Join(lines, "\n"), ""
}

func TestJudge_Rules(t *testing.T) {
	t.Parallel()
	const plan = `{"created":"2026-11-27T10:00:00Z","resources":{"web":{"change":"destroy","config":{"n":12345678901234567890}},` +
		`"db":{"change":"create"}}}`
	for name, c := range map[string]struct{ deny, message, want, wrong string }{
		"one":        {`[for a, r in plan.resources : a if r.change == "destroy"]`, `"no ${deny[0]}"`, "web: no web", ""},
		"several":    {`keys(plan.resources)`, `join(" ", deny)`, ": db web", ""},
		"none":       {`[]`, `"x"`, "", ""},
		"true":       {`plan.resources.web.config.n == 12345678901234567890`, `"n"`, ": n", ""},
		"false":      {`false`, `"n"`, "", ""},
		"the time":   {`formatdate("EEE", plan.created) == "Fri"`, `"Friday"`, ": Friday", ""},
		"a variable": {`[for a, r in plan.resources : a if a == var.name]`, `"x"`, "db: x", ""},
		"a secret":   {`[var.secret]`, `var.secret`, "hush: (The message is not shown, because it is made of a sensitive value.)", ""},
		"a typo":     {`plan.resource`, `"x"`, "", "Unsupported attribute"},
		"a number":   {`1`, `"x"`, "", "Wrong type"},
		"numbers":    {`[1]`, `"x"`, "", "Wrong type"},
		"no text":    {`true`, `null`, "", "No message"},
		"too much":   {`[for i in range(1000) : [for j in range(1000) : "x"][0]]`, `"x"`, "", "Too much to evaluate"},
	} {
		text := "variable \"name\" {\n  default = \"db\"\n}\nvariable \"secret\" {\n  default   = \"hush\"\n  sensitive = true\n}\n" +
			"policy \"p\" {\n  level = \"mandatory\"\n  rule {\n    deny    = " + c.deny + "\n    message = " + c.message + "\n  }\n}\n"
		if got, wrong := judgeText(t, text, plan); got != c.want || wrong != c.wrong {
			t.Errorf("%s: %q, %q; want %q, %q", name, got, wrong, c.want, c.wrong)
		}
	}
}

// A rule that reads when the plan was made says so, also where that cannot be seen for sure.
func TestPolicies_Timed(t *testing.T) {
	t.Parallel()
	for deny, want := range map[string]bool{`plan.created == ""`: true, `jsonencode(plan) == ""`: true, `plan["created"] == ""`: true,
		`plan.summary.destroy > 1`: false, `true`: false} {
		text := "policy \"p\" {\n  level = \"mandatory\"\n  rule {\n    deny    = " + deny + "\n    message = \"x\"\n  }\n}\n"
		m, diags := Load(Sources{Workspace: "/w", Dir: "/w", Manifests: []File{{Path: "main.hcl", Bytes: []byte(text)}}}, nil, Builtins{})
		if diags.HasErrors() || m.Policies().List[0].Timed != want {
			t.Errorf("%s: %v", deny, diags)
		}
	}
}

// Every example of the page loads.
func TestPolicyPage_Loads(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, e := range fenced.FindAllStringSubmatch(string(page), -1) {
		if e[1] != "hcl" {
			continue
		}
		seen++
		m, diags := Load(Sources{Workspace: "/w", Dir: "/w", Manifests: []File{{Path: "main.hcl", Bytes: []byte(e[2])}}}, nil, Builtins{})
		if len(diags) > 0 || len(m.Policies().List) == 0 {
			t.Errorf("%v in\n%s", diags, e[2])
		}
	}
	if seen < 2 {
		t.Errorf("only %d examples", seen)
	}
}
