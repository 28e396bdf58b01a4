package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/internal/base/diag"
)

// Texts that are not saved count in place of files: of a manifest, of one that does not exist yet,
// of a module, and of variables. What is not edited is read.
func TestEdited_CountsInPlaceOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.hcl":      `variable "size" { type = number }` + "\n",
		"saved.hcl":     `output "saved" { value = 1 }` + "\n",
		"m/main.hcl":    `output "a" { value = 1 }` + "\n",
		"vars.auto.hcl": "size = 1\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	load := func(e Edited) diag.Diagnostics {
		sources, diags := e.Find(dir, nil, nil)
		if diags.HasErrors() {
			return diags
		}
		inputs, diags := e.FindVariables(dir, "", nil, nil)
		if diags.HasErrors() {
			return diags
		}
		_, diags = Check(sources, inputs, Builtins{})
		return diags
	}
	for _, c := range []struct {
		name   string
		edited Edited
		want   string // "" = it is valid
	}{
		{"nothing is edited", nil, ""},
		{"a manifest", Edited{at("main.hcl"): []byte(`variable "size" { type = strin }`)}, "main.hcl:1"},
		{"a file that does not exist", Edited{at("new.hcl"): []byte(`output "saved" { value = 2 }`)}, "saved.hcl:1"},
		{"a module", Edited{at("new.hcl"): []byte("module \"m\" { source = \"./m\" }\noutput \"b\" { value = module.m.b }\n")}, "new.hcl:2"},
		{"both", Edited{at("new.hcl"): []byte("module \"m\" { source = \"./m\" }\noutput \"b\" { value = module.m.b }\n"),
			at("m/main.hcl"): []byte("output \"b\" { value = 1 }\n")}, ""},
		{"values of variables", Edited{at("vars.auto.hcl"): []byte("size = \"large\"\n")}, "vars.auto.hcl:1"},
		{"too much", Edited{at("main.hcl"): slices.Repeat([]byte("\n"), MaxFileSize+1)}, "main.hcl"},
	} {
		diags := load(c.edited)
		if diags.HasErrors() != (c.want != "") || c.want != "" && !strings.Contains(diags.Error(), c.want) {
			t.Errorf("%s: %v, want one at %q", c.name, diags, c.want)
		}
	}
}

// A directory that does not exist yet has what is edited in it.
func TestEdited_NeedsNoDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	sources, diags := Edited{filepath.Join(dir, "main.hcl"): []byte("locals {}\n")}.Find(dir, nil, nil)
	if len(diags) > 0 || len(sources.Manifests) != 1 || sources.Manifests[0].Path != "main.hcl" {
		t.Errorf("%v, %v", sources.Manifests, diags)
	}
}
