package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files that Terraform reads by itself are named, unless there are such of our own.
func TestVariableFiles_OfTerraformAreNamed(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  []string
	}{
		{[]string{"terraform.tfvars", "x.auto.tfvars.json", "main.hcl", "other.tfvars"}, []string{"terraform.tfvars is not read by itself", "vars.auto.hcl", "x.auto.tfvars.json is not read by itself", "vars.auto.json"}},
		{[]string{"terraform.tfvars", "vars.auto.hcl"}, nil},
		{[]string{"main.hcl", "other.tfvars"}, nil},
	} {
		dir := t.TempDir()
		for _, name := range c.files {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, diags := FindVariables(dir, "", nil, nil)
		text := ""
		for _, d := range diags {
			text += d.Severity.String() + " " + d.Detail + "\n"
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%v: %q does not say %q", c.files, text, want)
			}
		}
		if strings.Count(text, "\n") != len(c.want)/2 || strings.Contains(text, "error") {
			t.Errorf("%v: %q", c.files, text)
		}
	}
}
