package config

import (
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/cases"
	"deployster/config/limits"
	"deployster/config/source"
	"deployster/internal/base/diag"
)

// Files of tests, and what they have.
type (
	TestFile    = cases.File
	TestCase    = cases.Case
	TestObject  = cases.Object
	TestFailure = cases.Failure
)

// FindTests returns the names of the files of tests in a directory, sorted.
func FindTests(dir string) ([]string, error) { return source.FindTests(dir) }

// IsTestFile reports whether a file with this name has tests of manifests, and is not a manifest.
func IsTestFile(name string) bool { return source.IsTestFile(name) }

// ReadTests reads a file of tests. shown is its name for people.
func ReadTests(path, shown string) (*TestFile, diag.Diagnostics) {
	text, diags := source.ReadTests(path, shown)
	if diags.HasErrors() {
		return nil, diags
	}
	return cases.Parse(text, filepath.Dir(path), shown)
}

// JudgeCase evaluates the assertions of a case against a plan of the manifest.
func JudgeCase(m *Manifest, f *TestFile, c TestCase, plan PlanValue) (list []TestFailure, diags diag.Diagnostics) {
	var found hcl.Diagnostics
	if failed := limits.Guard(func() { list, found = cases.Judge(m.instances.Modules, c, plan) }); failed != nil {
		return nil, diag.Diagnostics{failed}
	}
	return list, f.Diagnostics(found)
}
