package policy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"deployster/config"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/plan/verdict"
)

// Case is a case of a test of policies: a plan, and what they must find about it.
type Case struct {
	Name   string   `json:"name"`
	Passed bool     `json:"passed"`
	Wrong  []string `json:"wrong,omitempty"` // what differs from what is expected
}

// The files of a case.
const (
	casesDir   = "cases"
	planFile   = "plan.json"   // as `deployster show -json` prints it
	expectFile = "expect.json" // the results of each policy that has some, by its name
)

// expectation is expect.json. A member that an expected result lacks may be any.
type expectation map[string][]verdict.Result

// Test has the policies of a directory judge the plans of its cases.
func (j Judge) Test(ctx context.Context, dir string) ([]Case, error) {
	m, err := j.Command.Work.Reader().PoliciesIn(dir)
	if err != nil {
		return nil, err
	}
	p := Policies{judge: j}
	for _, one := range m.Policies().List {
		p.list = append(p.list, ready{one, m, true})
	}
	entries, err := os.ReadDir(filepath.Join(dir, casesDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf("Cannot read the cases", "%s.", err)
	}
	var cases []Case
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		c, err := p.test(ctx, filepath.Join(dir, casesDir, e.Name()))
		if err != nil {
			return cases, err
		}
		c.Name = e.Name()
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, diag.Errorf("No cases",
			"%s has no cases: directories %s/NAME with %s, as `deployster show -json PLAN` prints it, and %s.",
			dir, casesDir, planFile, expectFile)
	}
	return cases, nil
}

// test judges the plan of one case.
func (p Policies) test(ctx context.Context, dir string) (c Case, err error) {
	document, err := os.ReadFile(filepath.Join(dir, planFile))
	if err != nil {
		return c, diag.Errorf("Cannot read the case", "%s.", err)
	}
	if document, err = Bare(document); err != nil {
		return c, diag.Errorf("Cannot read the case", "%s: %s. It is what `deployster show -json PLAN` prints.", filepath.Join(dir,
			planFile), err)
	}
	expected := expectation{}
	content, err := os.ReadFile(filepath.Join(dir, expectFile))
	if err == nil {
		err = jsondoc.DecodeStrict(content, &expected)
	}
	if err != nil {
		return c, diag.Errorf("Cannot read the case", "%s: %s.", filepath.Join(dir, expectFile), err)
	}
	verdicts, err := p.find(ctx, document)
	if err != nil {
		return c, err
	}
	for _, v := range verdicts {
		c.Wrong = append(c.Wrong, differences(v, expected[v.Name])...)
		delete(expected, v.Name)
	}
	for name := range expected {
		c.Wrong = append(c.Wrong, fmt.Sprintf("%s is expected, and there is no such policy", name))
	}
	slices.Sort(c.Wrong)
	c.Passed = len(c.Wrong) == 0
	return c, nil
}

// differences describes what a policy found and should not have, and what it should have found.
func differences(v verdict.Policy, want []verdict.Result) (wrong []string) {
	left := slices.Clone(want)
	for _, got := range v.Results {
		i := slices.IndexFunc(left, func(w verdict.Result) bool { return fits(got, w) })
		if i < 0 {
			wrong = append(wrong, fmt.Sprintf("%s found, not expected: %s: %s", v.Name, got.Severity, got.Words()))
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, w := range left {
		wrong = append(wrong, fmt.Sprintf("%s did not find: %s: %s", v.Name, w.Severity, w.Words()))
	}
	return wrong
}

// fits reports whether a result has all that an expected one has.
func fits(got, want verdict.Result) bool {
	return (want.Severity == "" || got.Severity == want.Severity) && (want.Message == "" || got.Message == want.Message) &&
		(want.Address == "" || got.Address == want.Address) && (want.Path == "" || got.Path == want.Path)
}

// Images reports whether a policy of a directory has an image, which must be run to test it.
func Images(w *workspace.Workspace, dir string) (bool, error) {
	m, err := w.Reader().PoliciesIn(dir)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(m.Policies().List, func(p config.Policy) bool { return p.Type != "" }), nil
}
