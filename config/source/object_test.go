package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadObject_EvaluatesAFileToJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "motd"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, text, want, problem, where string }{
		{"a.hcl", "name = \"x\"\nsize = 1.50\nlist = [1, true, null]\ntext = upper(file(\"motd\"))\n", `{"list":[1,true,null],"name":"x","size":1.5,"text":"HELLO"}`, "", ""},
		{"a.json", ` {"size": 12345678901234567890, "a": {}} `, `{"a":{},"size":12345678901234567890}`, "", ""},
		{"a.yaml", "name: x\nlist:\n  - 1\n", `{"list":[1],"name":"x"}`, "", ""},
		{"empty.hcl", "", `{}`, "", ""},
		{"a.hcl", "name = var.x\n", "", "Not a constant", "a.hcl:1"},
		{"a.hcl", "a = 1\nresource \"x\" {\n}\n", "", "Not a config", "a.hcl:2"},
		{"a.hcl", "a = \n", "", "Invalid expression", "a.hcl:1"},
		{"a.hcl", "a = file(\"../x\")\n", "", "function", "a.hcl:1"},
		{"a.json", "[]", "", "a list, and must hold an object", "a.json:1"},
		{"a.json", `{"a":1,"a":2}`, "", "twice", "a.json:1"},
		{"a.yaml", "- 1\n", "", "NAME: VALUE", "a.yaml:1"},
		{"a.txt", "", "", ".hcl, .json or .yaml", "a.txt:1"},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, diags := ReadObject(path, c.name)
		switch {
		case c.problem == "" && (len(diags) > 0 || string(got) != c.want):
			t.Errorf("%s: %s, %v", c.text, got, diags)
		case c.problem != "" && (!diags.HasErrors() || !strings.Contains(diags.Error(), c.problem) || !strings.Contains(diags.Error(), c.where)):
			t.Errorf("%s: %s, %v; want %s", c.text, got, diags, c.problem)
		}
	}
	if _, diags := ReadObject(filepath.Join(dir, "none.hcl"), "none.hcl"); !strings.Contains(diags.Error(), "There is no file none.hcl") {
		t.Error(diags)
	}
}
