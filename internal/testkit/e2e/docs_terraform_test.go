//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The page's example is one that terraform applies; what it says becomes of it does.
func TestDocs_FromTerraform(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/from-terraform.md")
	config, manifest := fences(page, "terraform"), fences(page, "hcl")
	if len(config) != 1 || len(manifest) != 1 || config[0] != read(t, "docs/examples/terraform/main.tf") {
		t.Fatal("the page shows another configuration than docs/examples/terraform")
	}
	p := newTerraformProject(t, 1)
	terraform := p.terraformDir("docs/examples/terraform")
	terraform(0, "init")
	terraform(0, "apply", "-auto-approve")
	terraform(0, "plan", "-detailed-exitcode")
	p.exits(0, "migrate", "terraform", ".")
	made, err := os.ReadFile(filepath.Join(p.work, "main.hcl"))
	if err != nil || "# part of a manifest: main.hcl\n"+string(made) != manifest[0] {
		t.Fatalf("the page shows another manifest, %v: %s", err, made)
	}
	said := p.exits(0, "plan")
	if !strings.Contains(said, "Plan: 0 to create, 0 to update, 0 to destroy, 3 to adopt.") {
		t.Errorf("the plan: %s", said)
	}
	p.exits(0, "apply", "-auto-approve")
	p.exits(0, "plan", "-detailed-exitcode")
	p.exits(0, "destroy", "-auto-approve")
}
