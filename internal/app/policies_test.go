package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/app/approval"
	"deployster/internal/app/policy"
	"deployster/internal/app/savedplan"
	"deployster/internal/app/workspace"
	"deployster/plan"
	"deployster/plan/planfile"
)

// denying is a policy that denies each creation.
const denying = `
policy "few" {
  level = "LEVEL"
  rule {
    deny    = [for a, r in plan.resources : a if r.change == "create"]
    message = "no new ${join(", ", deny)}"
  }
}
`

var auto = approval.Options{Auto: true}

// declare writes a file into the directory of an engine, and returns its path.
func declare(t *testing.T, e *Engine, name, text string) string {
	t.Helper()
	path := filepath.Join(e.Workspace.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func level(name string) string { return strings.ReplaceAll(denying, "LEVEL", name) }

// isDenied reports whether an error is that policies deny the plan.
func isDenied(err error) bool {
	return err != nil && strings.Contains(err.Error(), "no new a")
}

// What a policy denies is shown, may be saved, and is applied neither then nor later.
func TestPolicies_DeniedIsNotApplied(t *testing.T) {
	for _, name := range []string{"mandatory", "overridable", "advisory"} {
		e, world := newEngine(t)
		declare(t, e, "policy.hcl", level(name))
		p, err := e.Plan(t.Context(), PlanOptions{Out: "plan.bin"})
		if isDenied(err) != (name != "advisory") || p == nil || len(p.Policies) != 1 || !p.Policies[0].Failed() {
			t.Fatalf("%s: %+v, %v", name, p, err)
		}
		saved, err := e.Apply(t.Context(), ApplyOptions{Inputs: workspace.Inputs{Paths: []string{"plan.bin"}}})
		if isDenied(err) != (name != "advisory") {
			t.Errorf("%s: the saved plan: %+v, %v", name, saved, err)
		}
		if name == "advisory" {
			continue
		}
		if _, err := e.Apply(t.Context(), ApplyOptions{Approval: auto}); !isDenied(err) {
			t.Errorf("%s: a plan of its own: %v", name, err)
		}
		if len(world.Things()) != 0 {
			t.Errorf("%s: the world has %v", name, world.Things())
		}
	}
}

// What is saved, judged or explained is held to its state by an id and by pins. What is only shown is
// not, and cannot be applied.
func TestPlan_IsHeldToItsStateUnlessOnlyShown(t *testing.T) {
	e, _ := newEngine(t)
	for name, o := range map[string]PlanOptions{"shown": {}, "saved": {Out: "plan.bin"}, "explained": {Explain: []string{"a"}}} {
		p, err := e.Plan(t.Context(), o)
		if err != nil || (p.ID != "") != (name != "shown") || (p.Entries != nil) != (name != "shown") {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	declare(t, e, "policy.hcl", level("advisory"))
	if p, err := e.Plan(t.Context(), PlanOptions{}); err != nil || p.ID == "" || p.Entries == nil || len(p.Policies) != 1 {
		t.Errorf("judged: %+v, %v", p, err)
	}
}

// A person overrides an overridable policy with a reason, which is recorded with who it was. No other policy is overridden.
func TestPolicies_OnlyOverridableOnesAreOverridden(t *testing.T) {
	reason := "INC-42"
	for name, want := range map[string]string{"overridable": "", "mandatory": "is mandatory", "advisory": "is advisory"} {
		e, world := newEngine(t)
		declare(t, e, "policy.hcl", level(name))
		o := policy.Overrides{Names: []string{"few"}, Reason: &reason}
		report, err := e.Apply(t.Context(), ApplyOptions{Approval: auto, Override: o})
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) || len(world.Things()) != 0 {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || len(world.Things()) != 1 || report.Policies[0].Override == nil {
			t.Fatalf("%s: %+v, %v", name, report, err)
		}
		s, err := e.Workspace.ReadState(t.Context(), e.Workspace.StatePlaceAround())
		if err != nil {
			t.Fatal(err)
		}
		by := s.Applied[len(s.Applied)-1].By.Overrides
		if len(by) != 1 || by[0].Policy != "few" || by[0].Reason != reason || by[0].User == "" || by[0].Host == "" {
			t.Errorf("the state has %+v", by)
		}
	}
}

// No option and no reason: each is refused before anything is planned.
func TestPolicies_OverridesAreChecked(t *testing.T) {
	reason, empty := "x", " "
	for want, o := range map[string]policy.Overrides{
		"-reason=TEXT":         {Names: []string{"few"}},
		"needs -reason":        {Names: []string{"few"}, Reason: &empty},
		"-override is missing": {Reason: &reason},
		"no such policy":       {Names: []string{"many"}, Reason: &reason},
	} {
		e, _ := newEngine(t)
		declare(t, e, "policy.hcl", level("overridable"))
		if _, err := e.Plan(t.Context(), PlanOptions{Override: o}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	e, _ := newEngine(t)
	o := policy.Overrides{Names: []string{"few"}, Reason: &reason}
	declare(t, e, "policy.hcl", level("overridable"))
	if _, err := e.Plan(t.Context(), PlanOptions{Out: "plan.bin"}); !isDenied(err) {
		t.Fatal(err)
	}
	_, err := e.Apply(t.Context(), ApplyOptions{Inputs: workspace.Inputs{Paths: []string{"plan.bin"}}, Override: o})
	if err == nil || !strings.Contains(err.Error(), "decision of who plans") {
		t.Errorf("of a saved plan: %v", err)
	}
}

// What the environment requires is evaluated by a plan, and again over a saved plan of anybody when it is applied.
func TestPolicies_RequiredHoldAtApply(t *testing.T) {
	e, world := newEngine(t)
	if _, err := e.Plan(t.Context(), PlanOptions{Out: "plan.bin"}); err != nil {
		t.Fatal(err)
	}
	path := declare(t, e, "rules/policy.hcl", level("mandatory"))
	e.Workspace.Environ = append(e.Workspace.Environ, workspace.RequirePolicy+"="+path)
	if _, err := e.Apply(t.Context(), ApplyOptions{Inputs: workspace.Inputs{Paths: []string{"plan.bin"}}}); !isDenied(err) {
		t.Errorf("the saved plan: %v", err)
	}
	if _, err := e.Apply(t.Context(), ApplyOptions{Approval: auto}); !isDenied(err) {
		t.Errorf("a plan of its own: %v", err)
	}
	if len(world.Things()) != 0 {
		t.Errorf("the world has %v", world.Things())
	}
	declare(t, e, "policy.hcl", level("advisory"))
	if _, err := e.Plan(t.Context(), PlanOptions{}); err == nil || !strings.Contains(err.Error(), "is required already") {
		t.Errorf("a manifest sets it: %v", err)
	}
}

// An override names a policy of the manifest, and does not count for a required policy of the same name.
func TestPolicies_OverridesAreOfTheirPolicy(t *testing.T) {
	reason := "INC-42"
	e, world := newEngine(t)
	path := declare(t, e, "policy.hcl", level("overridable"))
	o := PlanOptions{Out: "plan.bin", Override: policy.Overrides{Names: []string{"few"}, Reason: &reason}}
	if _, err := e.Plan(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	e.Workspace.Environ = append(e.Workspace.Environ, workspace.RequirePolicy+"="+path)
	if _, err := e.Apply(t.Context(), ApplyOptions{Inputs: workspace.Inputs{Paths: []string{"plan.bin"}}}); !isDenied(err) ||
		len(world.Things()) != 0 {
		t.Errorf("%v", err)
	}
}

// The verdicts are under the digest of a plan, and the time only if a rule reads it. A file in which somebody has changed
// a verdict is refused.
func TestPolicies_AreUnderTheDigest(t *testing.T) {
	e, _ := newEngine(t)
	digest := func(text string) string {
		t.Helper()
		declare(t, e, "policy.hcl", text)
		p, _ := e.Plan(t.Context(), PlanOptions{Out: "plan.bin"})
		d, err := planfile.Digest(p)
		if err != nil {
			t.Fatal(err)
		}
		back, _, err := savedplan.Read(e.Workspace, "plan.bin")
		if err != nil || len(back.Policies) != len(p.Policies) || back.ID != plan.Fingerprint(back) {
			t.Fatalf("%+v, %v", back, err)
		}
		back.Created = back.Created.Add(1e9)
		later, err := planfile.Digest(back)
		if err != nil || (later == d) == strings.Contains(text, "created") {
			t.Errorf("a second later the digest is the same: %t (%v) of %s", later == d, err, text)
		}
		p.Policies[0].Denies = !p.Policies[0].Denies
		other, err := planfile.Digest(p)
		if err != nil || other == d {
			t.Errorf("another verdict has the same digest (%v)", err)
		}
		return d
	}
	if digest(level("mandatory")) == digest(level("overridable")) {
		t.Error("another level has the same digest")
	}
	digest(strings.ReplaceAll(level("advisory"), `r.change == "create"`, `plan.created == ""`))
}

// A rule that cannot be evaluated says nothing about the plan, so it denies it.
func TestPolicies_WhatCannotJudgeDenies(t *testing.T) {
	for what, deny := range map[string]string{
		"Unsupported attribute": `plan.resources.b.change == "create"`,
		"Wrong type":            `"a"`,
		"Too much to evaluate":  `[for i in range(1000) : [for j in range(1000) : "x"][0]]`,
	} {
		e, world := newEngine(t)
		declare(t, e, "policy.hcl", "policy \"few\" {\n  level = \"mandatory\"\n  rule {\n    deny    = "+deny+"\n    message = \"no\"\n  }\n}\n")
		_, err := e.Apply(t.Context(), ApplyOptions{Approval: auto})
		if err == nil || !strings.Contains(err.Error(), "denied by policy") || !strings.Contains(err.Error(), what) ||
			!strings.Contains(err.Error(), "policy.hcl:4") || len(world.Things()) != 0 {
			t.Errorf("%s: %v", what, err)
		}
	}
}
