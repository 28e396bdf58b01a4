package config

import (
	"encoding/json"

	"deployster/internal/diag"
)

// Manifest is what the files declare, checked.
type Manifest struct {
	resources []*Resource
	plugs     []Plug
	statePath string
}

// VarFlag is one -var or -var-file, in the order of the command line.
type VarFlag struct {
	File  bool   // -var-file
	Value string // NAME=VALUE, or the file's name
}

// VarInput is one given value of a variable, with where it came from.
type VarInput struct {
	Name   string
	Origin string // how to call its source in a message
}

// Find reads the manifests: those of the workspace, or of the directories and
// files in args (relative to the workspace). None at all is an error.
func Find(workspace string, args []string) (Sources, diag.Diagnostics) {
	return Sources{}, notYet()
}

// FindVariables collects the given values of variables, weakest first:
// DEPLOYSTER_VAR_name of environ, auto files in home/.deployster, auto files in
// the workspace, then the flags in their order.
func FindVariables(workspace, home string, environ []string, flags []VarFlag) ([]VarInput, diag.Diagnostics) {
	return nil, notYet()
}

// Pinned gives back to Load the values that Manifest.Variables returned.
func Pinned(values map[string]json.RawMessage) ([]VarInput, diag.Diagnostics) {
	return nil, notYet()
}

// Load parses, checks and connects the manifests, and evaluates all that does
// not depend on resources. The manifest is never nil; it is to be used only
// when the diagnostics have no errors.
func Load(src Sources, vars []VarInput, b Builtins) (*Manifest, diag.Diagnostics) {
	return &Manifest{}, notYet()
}

// Config evaluates a resource's config against what is known of the others'
// states.
func (m *Manifest) Config(addr string, s Scope) (Resolved, diag.Diagnostics) {
	return Resolved{}, notYet()
}

// Outputs evaluates the outputs, sorted by name.
func (m *Manifest) Outputs(s Scope) ([]Output, diag.Diagnostics) {
	return nil, notYet()
}

// Locate says where the value at a JSON pointer of a resource's config is
// written: the nearest enclosing thing that is, if not exactly. It is nil when
// there is no such resource.
func (m *Manifest) Locate(addr, pointer string) *diag.Range { return nil }

// Diagnose fills in the range and the snippet of a diagnostic whose place is
// known, and returns it. A nil range changes nothing.
func (m *Manifest) Diagnose(d *diag.Diagnostic, r *diag.Range) *diag.Diagnostic { return d }

// Variables returns the variables' values with their types, for Pinned.
func (m *Manifest) Variables() map[string]json.RawMessage { return nil }

// Secrets returns the string forms of all sensitive values that are known
// without asking a resource, longest first, for redaction of logs. See also
// Resolved.Secrets.
func (m *Manifest) Secrets() []string { return nil }

// Sources returns what the manifest was loaded from, with all that file() and
// friends have read so far in Reads.
func (m *Manifest) Sources() Sources { return Sources{} }

// Secrets returns the string forms of the sensitive values in r.
func (r Resolved) Secrets() []string { return nil }

func notYet() diag.Diagnostics {
	return diag.Diagnostics{diag.Errorf("Not evaluated", "The evaluator follows in the next commit.")}
}
