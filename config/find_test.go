package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"deployster/config/source"
)

// tree writes files into a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind_ChoosesTheManifestsOfADirectory(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"b.hcl": "", "a.hcl": "", "c.hcl.json": "{}", ".hidden.hcl": "", "notes.txt": "", "x.json": "",
		"vars.auto.hcl": "", "vars.prod.auto.hcl": "", "vars..auto.hcl": "", "sub/d.hcl": "", "sub/deeper/e.hcl": "", "other/f.hcl": "", "empty/x.txt": ""})
	for _, c := range []struct {
		args  []string
		files []string
		base  string
		err   string
	}{
		{nil, []string{"a.hcl", "b.hcl", "c.hcl.json", "vars..auto.hcl"}, "", ""},
		{[]string{"sub"}, []string{"sub/d.hcl"}, "sub", ""},
		{[]string{"./sub/", "sub/d.hcl"}, []string{"sub/d.hcl"}, "sub", ""},
		{[]string{"sub", "other"}, []string{"sub/d.hcl", "other/f.hcl"}, "", ""},
		{[]string{"a.hcl", "sub/deeper"}, []string{"a.hcl", "sub/deeper/e.hcl"}, "", ""},
		{[]string{dir + "/sub/d.hcl"}, []string{dir + "/sub/d.hcl"}, "sub", ""},
		{[]string{"empty"}, nil, "empty", "There is no manifest in empty"},
		{[]string{"nowhere"}, nil, "", "does not exist"},
		{[]string{"notes.txt"}, nil, "", "is not a manifest"},
		{[]string{"vars.auto.hcl"}, nil, "", "-var-file"},
	} {
		src, diags := Find(dir, c.args, nil)
		if c.err != "" {
			if !diags.HasErrors() || !strings.Contains(diags.Error(), c.err) {
				t.Errorf("%q: %v, want %q", c.args, diags, c.err)
			}
			continue
		}
		var names []string
		for _, f := range src.Manifests {
			names = append(names, f.Path)
		}
		if diags.HasErrors() || !slices.Equal(names, c.files) || src.Dir != filepath.Join(dir, c.base) || src.Workspace != dir {
			t.Errorf("%q: %q in %s, %v", c.args, names, src.Dir, diags)
		}
	}
}

func TestFind_RefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"big.hcl": strings.Repeat("#\n", MaxFileSize/2+1)})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.hcl"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, diags := Find(dir, nil, nil)
	if len(diags) != 2 || !strings.Contains(diags[0].Detail, "limit") || !strings.Contains(diags[1].Detail, "regular file") {
		t.Error(diags)
	}
	many := t.TempDir()
	for i := range source.MaxFiles + 5 {
		if err := os.WriteFile(filepath.Join(many, fmt.Sprintf("f%d.hcl", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, diags := Find(many, nil, nil); len(diags) != 1 || !strings.Contains(diags[0].Detail, "1000") {
		t.Error(diags)
	}
}

func TestVariables_ComeInTheDocumentedOrder(t *testing.T) {
	t.Parallel()
	home := tree(t, map[string]string{".deployster/vars.auto.yaml": "c: home\nd: home\n", ".deployster/vars.b.auto.hcl": `d = "home b"`, ".deployster/other.hcl": `a = "never"`})
	dir := tree(t, map[string]string{"vars.auto.json": `{"e": "dir", "f": "dir"}`, "vars.z.auto.hcl": `f = "dir z"` + "\n" + `g = "dir z"` + "\n", "one.yaml": "g: one\nh: one\ni: one\n", "two.json": `{"i": {"deep": [1.5, null, true]}}`})
	env := []string{"DEPLOYSTER_VAR_b=env", "DEPLOYSTER_VAR_c=env", "DEPLOYSTER_VAR_unknown=x", "PATH=/bin"}
	flags := []VarFlag{{File: true, Value: "one.yaml"}, {File: false, Value: "h=flag=1"}, {File: true, Value: "two.json"}, {File: false, Value: "j=flag"}}
	inputs, diags := FindVariables(dir, home, env, flags)
	fatal(t, diags)
	text := ""
	for name := range strings.SplitSeq("a b c d e f g h i j", " ") {
		text += fmt.Sprintf("variable %q {\n  default = \"default\"\n}\n", name)
	}
	text += `resource "r" {
  type   = "x"
  config = [for v in [{ a = var.a, b = var.b, c = var.c, d = var.d, e = var.e, f = var.f, g = var.g, h = var.h, i = var.i, j = var.j }] : v][0]
}
`
	m, diags := Load(sources(dir, text), inputs, Builtins{})
	if len(diags) != 0 {
		t.Fatal(diags)
	}
	want := `{"a":"default","b":"env","c":"home","d":"home b","e":"dir","f":"dir z","g":"one","h":"flag=1","i":{"deep":[1.5,null,true]},"j":"flag"}`
	if got := config(t, m, "r", nil); string(got.Value) != want {
		t.Errorf("\n got %s\nwant %s", got.Value, want)
	}
}

func TestVariableFiles_Mistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, Usage, err string }{
		{"a.hcl", "x = \n", "a.hcl:1", ""},
		{"a.hcl", "y = 1\nx = var.y\n", "a.hcl:2", "constants"},
		{"a.hcl", "resource \"x\" {\n}\n", "a.hcl:1", "NAME = VALUE"},
		{"a.hcl", "x = " + strings.Repeat("[", 200), "a.hcl:1", "nesting"},
		{"a.hcl", "\nx = [1]\n", "a.hcl:2", `the variable "x" from a.hcl:2 does not fit: it must be a number`},
		{"a.hcl", "x = 1\nz = 1\n", "a.hcl:2", "no manifest declares it"},
		{"a.json", "[1]", "a.json:1", "JSON object"},
		{"a.json", `{"x": 1, "x": 2}`, "a.json:1", "twice"},
		{"a.json", "", "a.json:1", "empty"},
		{"a.yaml", "- 1\n", "a.yaml:1", "NAME: VALUE"},
		{"a.yaml", "x: [1\n", "a.yaml:2", "not YAML"},
		{"a.yaml", "x:\n" + strings.Repeat("- ", 200) + "\n", "a.yaml:1", "nested"},
		{"a.yaml", "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\nx: [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]\n", "a.yaml:1", "through aliases"},
		{"a.txt", "x = 1", "a.txt:1", ".yaml"},
		{"none.hcl", "", "", "cannot be read"},
	} {
		dir := tree(t, map[string]string{"a.hcl": "", c.name: c.text})
		if c.name == "none.hcl" {
			os.Remove(filepath.Join(dir, c.name))
		}
		inputs, diags := FindVariables(dir, "", nil, []VarFlag{{File: true, Value: c.name}})
		if !diags.HasErrors() {
			_, more := Load(sources(dir, "variable \"x\" {\n  type = number\n  default = 1\n}\n"), inputs, Builtins{})
			diags = append(diags, more...)
		}
		if len(diags) != 1 || !strings.Contains(diags[0].Detail, c.err) {
			t.Errorf("%s %.40q: %v, want %q", c.name, c.text, diags, c.err)
			continue
		}
		if d := diags[0]; c.Usage != "" && (d.Range == nil || d.Range.String() != c.Usage || d.Snippet == nil) {
			t.Errorf("%s %.40q: at %v, want %s; %v", c.name, c.text, d.Range, c.Usage, d.Snippet)
		}
	}
	for _, flag := range []string{"x", "=1", "a b=1"} {
		if _, diags := FindVariables(t.TempDir(), "", nil, []VarFlag{{File: false, Value: flag}}); len(diags) != 1 {
			t.Errorf("-var %q: %v", flag, diags)
		}
	}
}
