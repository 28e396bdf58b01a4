package original

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/internal/migrate/expressions"
)

// anyNames knows some names, and takes each other one for a variable.
type anyNames struct{}

func (anyNames) Name(name string, _ bool) (expressions.Value, error) {
	switch name {
	case "s":
		return expressions.Code("var.s", expressions.String), nil
	case "i":
		return expressions.Code("var.i", expressions.Int), nil
	case "l":
		return expressions.Elements("var.l", expressions.String), nil
	case "u":
		return expressions.Code("dep.u.state", expressions.Unknown), nil
	}
	return expressions.Variable(name, "var.v"), nil
}
func (anyNames) Default(string, string) (expressions.Value, bool) { return expressions.Value{}, false }
func (anyNames) Include(string) (string, error)                   { return "", fs.ErrNotExist }
func (anyNames) Note(string, ...any)                              {}

// What a text is translated to is valid HCL.
func FuzzTranslate(f *testing.F) {
	for _, text := range []string{"{{ s ~ i }}$", "{% for x in u %}{{ x.y }}{% endfor %}", "{{ l|map('upper')|join('${') }}", "${{ u }}%{",
		"{{ -i|abs + 1 }}",
		"{{ (i, 'a')[0] if not u.x is defined else u[s] }}", "{{ '%s' % s }}{{ '{}'.format(i) }}", "{% set a = u or s %}{{ a }}",
		"a\n{{ s[1:2] }}\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		made, err := expressions.Translate(text, anyNames{})
		if err != nil {
			return
		}
		if _, diags := hclsyntax.ParseExpression([]byte(made.Code), "made.hcl", hcl.InitialPos); diags.HasErrors() {
			t.Errorf("%q becomes %s: %v", text, made.Code, diags)
		}
	})
}

// A manifest becomes valid HCL, or is an error with its place.
func FuzzRun(f *testing.F) {
	f.Add("resources:\n  r:\n    type: a\n    config: {x: '{{ y }}', z: [1, !!str 2, *a]}\n")
	f.Add("plugs: &p\n  a: {path: x, <<: *p}\nresources: {r: {type: &a a, dependencies: {d: r}}}\n")
	f.Add("? [a]\n: b\n---\n...\n")
	f.Fuzz(func(t *testing.T, text string) {
		made, err := Run(Options{Manifests: []File{{Name: "main.yaml", Bytes: []byte(text)}},
			Variables: []File{{Name: "vars.yaml", Bytes: []byte("y: 1\n")}}, Version: "0.1.0"})
		if err != nil {
			if !strings.Contains(err.Error(), "main.yaml:") && !strings.Contains(err.Error(), ".hcl:") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		for name, text := range made.Files {
			if _, diags := hclsyntax.ParseConfig(text, name, hcl.InitialPos); diags.HasErrors() {
				t.Errorf("%s: %v", text, diags)
			}
		}
	})
}
