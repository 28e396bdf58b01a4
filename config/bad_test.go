package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deployster/internal/base/diag"
)

// The comments of a bad manifest: `error 3:5 any text` and `warning 3:5` are
// what is expected of it; `var NAME=VALUE` is given as -var; `state NAME JSON`
// is a complete state, against which configs and outputs are evaluated, and
// `schema NAME JSON` is what is known of one that is not there yet.
var badComment = regexp.MustCompile(`(?m)(?:^# |"// ?\w*": ")(error|warning|var|state|schema) (.*?)(?:",?)?$`)

func TestBadManifests_AreRefusedWithTheirMessage(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.hcl*")
	if err != nil || len(files) < 130 {
		t.Fatalf("%d bad manifests, %v: at least 130 are expected", len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			var vars []VarFlag
			scope := States{}
			for _, c := range badComment.FindAllStringSubmatch(string(text), -1) {
				word, rest, _ := strings.Cut(c[2], " ")
				switch c[1] {
				case "var":
					vars = append(vars, VarFlag{Value: c[2]})
				case "schema":
					scope[word] = ResourceState{Schema: []byte(rest)}
				case "state":
					scope[word] = ResourceState{Known: []byte(rest), Complete: true}
				default:
					want = append(want, c[1]+" "+word)
				}
			}
			name := filepath.Base(path)
			var got []string
			for _, d := range diagnose(t, name, text, vars, scope) {
				got = append(got, shortPlace(d))
				checkDiagnostic(t, d)
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) || len(want) == 0 {
				t.Errorf("positions\n got: %q\nwant: %q", got, want)
			}
		})
	}
}

// diagnose does all that can be done with a manifest and gives what it says.
func diagnose(t *testing.T, name string, text []byte, vars []VarFlag, scope States) diag.Diagnostics {
	dir := t.TempDir()
	inputs, diags := FindVariables(dir, "", nil, vars)
	m, more := Load(Sources{Workspace: dir, Dir: dir, Manifests: []File{{Path: name, Bytes: text}}}, inputs, Builtins{Version: "0.1.0", Home: "/home/me"})
	if diags = append(diags, more...); diags.HasErrors() {
		return diags
	}
	for _, r := range m.Resources() {
		_, d := m.Config(r.Address, scope)
		_, before := m.Conditions(r.Address).Before(scope)
		_, after := m.Conditions(r.Address).After(scope)
		diags = append(append(append(diags, d...), before...), after...)
	}
	_, checks := m.Checks(scope, Looked{})
	diags = append(diags, checks...)
	_, d := m.Outputs(scope)
	return append(diags, d...)
}

func shortPlace(d *diag.Diagnostic) string {
	if d.Range == nil {
		return d.Severity.String() + " -"
	}
	return fmt.Sprintf("%s %d:%d", d.Severity, d.Range.Start.Line, d.Range.Start.Column)
}

// checkDiagnostic is what every diagnostic must have.
func checkDiagnostic(t *testing.T, d *diag.Diagnostic) {
	t.Helper()
	if d.Summary == "" || d.Detail == "" || d.Severity != diag.Error && d.Severity != diag.Warning {
		t.Errorf("incomplete: %+v", d)
	}
	if d.Range == nil {
		return
	}
	s := d.Snippet
	if s == nil {
		t.Fatalf("no snippet: %v", d)
	}
	if s.HighlightStart > s.HighlightEnd || s.HighlightEnd > len(s.Code) || s.StartLine < 1 || strings.Count(s.Code, "\n") >= 10 {
		t.Errorf("the snippet of %v is off: %+v", d, s)
	}
}
