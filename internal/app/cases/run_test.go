package cases

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
)

// in returns a workspace with files.
func in(t testing.TB, files map[string]string) *workspace.Workspace {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return workspace.New(workspace.Options{Dir: dir, Version: "test", Environ: []string{"DEPLOYSTER_VAR_n=7"}})
}

const main = `
variable "n" { default = 1 }
variable "size" { default = 1 }
variable "pw" {
  default   = "hunter2hunter2"
  sensitive = true
}
resource "web" {
  type   = "acme/vm:1"
  config = { name = "web", size = var.size }
}
resource "more" {
  for_each = toset([for i in range(var.n) : tostring(i)])
  type     = "acme/vm:1"
  config   = { name = each.key, behind = resource.web.state.ip, pw = var.pw }
}
output "ip" { value = resource.web.state.ip }
`

// Each case of the text is named for what it shows, and fails with the texts behind "fails:" in its name, or passes.
const stories = `
case "nothing exists" {
  assert {
    condition     = plan.summary.create == 1 && plan.summary.deferred == 1 && plan.resources["web"].change == "create"
    error_message = jsonencode(plan.summary)
  }
}
case "the environment does not count; fails: one more is [0]" {
  assert {
    condition     = length([for a, r in plan.resources : a if a != "web"]) == 0
    error_message = "one more is [${join(" ", [for k in range(var.n) : k])}]"
  }
}
case "an object exists" {
  world = { "acme/vm:1" = { web = { ip = "10.0.0.1" } } }
  assert {
    condition     = plan.resources["web"].change == "valid" && plan.resources["more[\"0\"]"].config.behind == "10.0.0.1"
    error_message = jsonencode(plan.resources)
  }
}
case "it has drifted" {
  world = { "acme/vm:1" = { web = { ip = "10.0.0.1", size = 3 } } }
  assert {
    condition     = plan.resources["web"].change == "update"
    error_message = jsonencode(plan.resources["web"])
  }
}
case "nothing is left to do" {
  follows = "an object exists"
  assert {
    condition     = plan.summary.valid == 2 && !try(plan.outputs.ip.changed, false)
    error_message = jsonencode([plan.summary, plan.outputs])
  }
}
case "one is removed" {
  follows   = "nothing is left to do"
  variables = { n = 0 }
  assert {
    condition     = plan.resources["more[\"0\"]"].change == "destroy"
    error_message = jsonencode(plan.resources)
  }
}
case "one is gone" {
  follows = "nothing is left to do"
  world   = { "acme/vm:1" = { web = null } }
  assert {
    condition     = plan.resources["web"].change == "create"
    error_message = jsonencode(plan.resources["web"])
  }
}
case "variables are kept" {
  follows = "one is removed"
  assert {
    condition     = var.n == 0 && length(plan.resources) == 1
    error_message = jsonencode(plan.resources)
  }
}
case "what was created is known; fails: no attribute" {
  follows = "nothing exists"
  assert {
    condition     = plan.resources["web"].change == "valid"
    error_message = "x"
  }
}
case "what a creation gives is in the world" {
  follows = "nothing exists"
  world   = { "acme/vm:1" = { web = { ip = "10.0.0.9" } } }
  assert {
    condition     = plan.resources["more[\"0\"]"].config.behind == "10.0.0.9" && plan.summary.valid == 2
    error_message = jsonencode(plan.resources)
  }
}
case "an expected error" {
  variables     = { n = "many" }
  expect_errors = ["number"]
}
case "another error; fails: number; fails: no error has this text: unicorn" {
  variables     = { n = "many" }
  expect_errors = ["unicorn"]
}
case "no error; fails: the plan has no error" {
  expect_errors = ["number"]
}
case "a plan that is not expected to fail; fails: number" {
  variables     = { n = "many" }
  expect_errors = []
}
case "a variable that is not declared; fails: Undeclared variable" {
  variables     = { m = 1 }
  expect_errors = []
}
case "a type that is not used; fails: Did you mean" {
  world         = { "acme/vn:1" = { web = {} } }
  expect_errors = []
}
case "a resource that is not declared; fails: Did you mean" {
  world         = { "acme/vm:1" = { wed = {} } }
  expect_errors = []
}
case "a wrong condition; fails: true or false" {
  assert {
    condition     = "yes"
    error_message = "x"
  }
}
case "a state in a condition; fails: resource.web" {
  assert {
    condition     = resource.web.state.ip == ""
    error_message = "x"
  }
}
case "a secret is masked; fails: sensitive" {
  world = { "acme/vm:1" = { web = { ip = "10.0.0.1" } } }
  assert {
    condition     = false
    error_message = jsonencode(plan.resources["more[\"0\"]"].config)
  }
}
`

func TestRun_Stories(t *testing.T) {
	t.Parallel()
	w := in(t, map[string]string{"main.hcl": main, "a.test.hcl": stories, "vars.auto.hcl": "size = 2\n"})
	report, err := Run(t.Context(), w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Results) < 20 || len(report.Unknown) != 1 {
		t.Errorf("%d results, unknown %v", len(report.Results), report.Unknown)
	}
	for _, one := range report.Results {
		parts := strings.Split(one.Name, "; fails: ")
		text := strings.Join(one.Failures, "\n")
		if len(parts) == 1 && text != "" || len(parts) > 1 && text == "" {
			t.Errorf("%s: %q", one.Name, text)
		}
		for _, part := range parts[1:] {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q is not in %q", one.Name, part, text)
			}
		}
		if strings.Contains(text, "hunter2hunter2") {
			t.Errorf("%s shows a secret: %s", one.Name, text)
		}
		for _, line := range one.Failures {
			if !regexp.MustCompile(`^(a\.test|main)\.hcl:\d+: `).MatchString(line) {
				t.Errorf("%s: no place: %s", one.Name, line)
			}
		}
	}
}

func TestRun_MatchRunsWhatACaseFollows(t *testing.T) {
	t.Parallel()
	w := in(t, map[string]string{"main.hcl": main, "a.test.hcl": stories})
	report, err := Run(t.Context(), w, Options{Match: regexp.MustCompile("^one is removed$")})
	if err != nil || len(report.Results) != 3 || report.Failed() != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	text, err := report.JUnit()
	var read junitSuites
	if err != nil || xml.Unmarshal(text, &read) != nil || read.Tests != 3 || read.Suites[0].Cases[2].Name != "one is removed" {
		t.Errorf("%s, %v", text, err)
	}
}

// The page shows the example as it is run here.
func TestPage_ShowsWhatIsRun(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, name := range []string{"main.hcl", "shop.test.hcl"} {
		text, err := os.ReadFile("../../../docs/testing/" + name)
		if err != nil || !strings.Contains(string(page), "```hcl\n"+string(text)+"```") {
			t.Errorf("the page does not have %s, %v", name, err)
		}
		files[name] = string(text)
	}
	report, err := Run(t.Context(), in(t, files), Options{})
	if err != nil || report.Failed() != 0 || len(report.Results) != 4 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestRun_RefusesWhatIsNotATest(t *testing.T) {
	t.Parallel()
	const block = "assert {\n condition = true\n error_message = \"x\"\n}"
	for _, c := range []struct{ text, want string }{
		{"", "there is no case"},
		{`case "a" {}`, "a.test.hcl:1"},
		{"case \"a\" {\n" + block + "\n}\ncase \"a\" {\n" + block + "\n}", "a.test.hcl:7"},
		{"case \"a\" {\nfollows = \"b\"\n" + block + "\n}", "a.test.hcl:2"},
		{"case \"a\" {\nfollows = \"b\"\n" + block + "\n}\ncase \"b\" {\n" + block + "\n}", "stands below"},
		{"case \"a\" {\nworld = { x = { y = 1 } }\n" + block + "\n}", "a.test.hcl:2"},
		{"case \"a\" {\nworld = var.x\n" + block + "\n}", "a.test.hcl:2"},
		{"case \"a\" {\nvariables = { x = var.y }\n" + block + "\n}", "a.test.hcl:2"},
		{"case \"a\" {\nexpect_errors = \"x\"\n}", "a.test.hcl:2"},
		{"case \"a\" {\nexpect_errors = [1]\n}", "a.test.hcl:2"},
		{"case \"a\" {\nassert {\n condition = true\n}\n}", "error_message"},
		{"resource \"a\" {\n}", "a.test.hcl:1"},
		{"case \"a\" {", "a.test.hcl"},
	} {
		w := in(t, map[string]string{"main.hcl": main, "a.test.hcl": c.text})
		report, err := Run(t.Context(), w, Options{})
		if c.text == "" {
			if err != nil || len(report.Results) != 0 {
				t.Errorf("an empty file: %v", err)
			}
			continue
		}
		if err == nil || !strings.Contains(places(err), c.want) {
			t.Errorf("%q\n got: %s\nwant: %s", c.text, places(err), c.want)
		}
	}
	w := in(t, map[string]string{"main.hcl": main})
	for _, args := range [][]string{{"."}, {"main.hcl"}, {"none.test.hcl"}} {
		if _, err := Run(t.Context(), w, Options{Files: args}); err == nil {
			t.Errorf("%v is no error", args)
		}
	}
}

// BenchmarkRun_100x50 is 100 cases of 50 resources: the goal is 5 s.
func BenchmarkRun_100x50(b *testing.B) {
	var tests strings.Builder
	for i := range 100 {
		_, _ = fmt.Fprintf(&tests, "case \"%d\" {\n assert {\n condition = plan.summary.create == 1 && plan.summary.deferred == 49\n error_message = \"no\"\n }\n}\n", i)
	}
	w := in(b, map[string]string{"main.hcl": main, "a.test.hcl": tests.String(), "vars.auto.hcl": "n = 49\n"})
	for b.Loop() {
		report, err := Run(b.Context(), w, Options{})
		if err != nil || report.Failed() != 0 || len(report.Results) != 100 {
			b.Fatal(report.Failed(), err)
		}
	}
}

// places returns an error with the places of its diagnostics.
func places(err error) string {
	var out []string
	for _, d := range diag.From("Error", err) {
		out = append(out, line("", d))
	}
	return strings.Join(out, "\n")
}
