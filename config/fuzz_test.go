package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/limits"
	"deployster/config/source"
	"deployster/config/values"
	"deployster/config/variables"
	"deployster/internal/base/diag"
)

// corpus are the seeds of the fuzz targets: all manifests under testdata. An
// empty one is an error, lest the fuzzing test nothing unseen.
func corpus(t testing.TB) map[string][]byte {
	t.Helper()
	seeds := map[string][]byte{}
	for _, pattern := range []string{"testdata/bad/*", "testdata/good/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no seeds in %s (%v)", pattern, err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			seeds[filepath.Base(f)] = text
		}
	}
	return seeds
}

// FuzzManifest: no manifest makes the tool panic, and what loads without errors
// evaluates to JSON that says what is unknown in it.
func FuzzManifest(f *testing.F) {
	for name, text := range corpus(f) {
		f.Add(text, strings.HasSuffix(name, ".json"), `{"zone":"eu","ip":"1.2.3.4","list":[1,{"x":null}]}`)
	}
	f.Add([]byte(conditional), false, `{"type":"object","properties":{"size":{"type":"integer"},"ok":{"type":"boolean"}},"additionalProperties":true}`)
	f.Fuzz(func(t *testing.T, text []byte, json bool, state string) {
		dir := t.TempDir()
		name := "main.hcl"
		if json {
			name += ".json"
		}
		m, diags := Load(Sources{Workspace: dir, Dir: dir, Manifests: []File{{Path: name, Bytes: text}}}, nil, Builtins{Version: "0.1.0"})
		survived(t, diags)
		if diags.HasErrors() {
			return
		}
		for _, complete := range []bool{false, true} {
			scope := States{}
			for _, r := range m.Resources() {
				scope[r.Address] = ResourceState{Known: []byte(state), Complete: complete, Schema: []byte(state), Last: &LastConfig{Value: []byte(state)}}
			}
			for _, r := range m.Resources() {
				agreesSimply(t, m, m.instances.Find(r.Address), scope)
				v, diags := m.Config(r.Address, scope)
				survived(t, diags)
				if diags.HasErrors() {
					continue
				}
				if _, err := values.FromJSON(v.Value); err != nil {
					t.Errorf("%s: %v\n%s", r.Address, err, v.Value)
				}
				for p, refs := range v.Unknown {
					if refs == "" || m.Locate(r.Address, p, false) == nil {
						t.Errorf("%s: nothing is said of the unknown value at %q", r.Address, p)
					}
				}
			}
			_, diags := m.Outputs(scope)
			survived(t, diags)
			for _, r := range m.Resources() {
				_, before := m.Conditions(r.Address).Before(scope)
				_, after := m.Conditions(r.Address).After(scope)
				survived(t, append(before, after...))
			}
			_, diags = m.Checks(scope, Looked{})
			survived(t, diags)
			if diags.HasErrors() {
				t.Errorf("a check is more than a warning: %v", diags)
			}
		}
	})
}

// FuzzVariableFile: no variable file makes the tool panic.
func FuzzVariableFile(f *testing.F) {
	for name, text := range corpus(f) {
		f.Add(text, name)
	}
	f.Add([]byte("a: [1, {b: c}]\n"), "x.yaml")
	f.Add([]byte(`{"a": [1, 2.5e3, null]}`), "x.json")
	f.Add([]byte("a = [1, { b = \"c\" }]\n"), "x.hcl")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		for _, name := range []string{"x" + filepath.Ext(name), "x.yaml"} {
			if values, diags := source.ParseVariables(text, name); len(values) > 0 && !diags.HasErrors() {
				for _, v := range values {
					if err := limits.CheckValue(v.Value); err == nil {
						_, _ = (&variables.Spec{Type: v.Value.Type(), Nullable: true}).Accept(v.Value)
					}
				}
			}
		}
	})
}

// FuzzExpression: no expression makes the console panic or hang, whatever
// functions it calls.
func FuzzExpression(f *testing.F) {
	seeds := slices.Clone(expensiveExpressions)
	for _, row := range jsonLines[answer](f, "terraform.jsonl") {
		seeds = append(seeds, row.Expr)
	}
	if len(seeds) < 800 {
		f.Fatalf("only %d seeds", len(seeds))
	}
	for i, expr := range seeds {
		if i >= len(expensiveExpressions) || i%16 == 0 { // one takes up to a second
			f.Add(expr)
		}
	}
	m := tableManifest(f)
	f.Fuzz(func(t *testing.T, expr string) {
		start := time.Now()
		shown, diags := m.Evaluate(expr, nil)
		survived(t, diags)
		if shown == "" && !diags.HasErrors() || shown != "" && diags.HasErrors() {
			t.Errorf("%q with %v", shown, diags)
		}
		if took := time.Since(start); took > 25*time.Second {
			t.Errorf("took %s", took)
		}
		_ = Unfinished(expr)
	})
}

// expressions are all that stand in the corpus.
func expressions(t testing.TB) [][]byte {
	t.Helper()
	var out [][]byte
	for name, src := range corpus(t) {
		file, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
		if filepath.Ext(name) != ".hcl" || diags.HasErrors() {
			continue
		}
		_ = hclsyntax.VisitAll(file.Body.(*hclsyntax.Body), func(n hclsyntax.Node) hcl.Diagnostics {
			if a, ok := n.(*hclsyntax.Attribute); ok {
				out = append(out, a.Expr.Range().SliceBytes(src))
			}
			return nil
		})
	}
	if len(out) < 200 {
		t.Fatalf("only %d expressions in the corpus", len(out))
	}
	return out
}

// FuzzExpressionInManifest: no expression makes the tool panic or hang, whether it stands
// in a manifest, where its parts are known or not, or comes in by -var.
func FuzzExpressionInManifest(f *testing.F) {
	for _, text := range expressions(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		src := Sources{Workspace: dir, Dir: dir, Manifests: []File{{Path: "main.hcl", Bytes: []byte(`
variable "text" { default = "t" }
variable "list" { default = [1, "b", null] }
variable "secret" {
  default   = { a = "canary-in-the-mine" }
  sensitive = true
}
variable "given" {
  type    = any
  default = null
}
resource "x" { type = "acme/x" }
locals {
  value = ` + string(text) + `
}
output "o" {
  value     = local.value
  sensitive = true
}
`)}}}
		m, diags := Load(src, []VarInput{Answered("given", string(text))}, Builtins{Version: "0.1.0"})
		survived(t, diags)
		for _, d := range diags {
			if strings.Contains(d.Detail, "canary-in-the-mine") {
				t.Fatalf("a secret is shown: %v", d)
			}
		}
		if diags.HasErrors() {
			return
		}
		for _, complete := range []bool{false, true} {
			_, diags := m.Outputs(States{"x": {Known: []byte(`{"ip": "1.2.3.4", "l": [1, {"y": null}]}`), Complete: complete}})
			survived(t, diags)
		}
	})
}

func survived(t *testing.T, diags diag.Diagnostics) {
	t.Helper()
	for _, d := range diags {
		if strings.Contains(d.Detail, "bug in deployster") || strings.Contains(d.Detail, "panic") || d.Summary == "" {
			t.Fatalf("%+v", d)
		}
		if d.Snippet != nil && (d.Snippet.HighlightStart > d.Snippet.HighlightEnd || d.Snippet.HighlightEnd > len(d.Snippet.Code)) {
			t.Fatalf("snippet: %+v", d.Snippet)
		}
	}
}
