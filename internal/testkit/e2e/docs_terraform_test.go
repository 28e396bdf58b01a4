//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestDocs_TerraformProviders does what docs/terraform.md tells, with its manifest.
func TestDocs_TerraformProviders(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/terraform.md")
	manifests, commands := fences(page, "hcl"), fences(page, "sh")
	if len(manifests) != 3 || len(commands) != 3 {
		t.Fatalf("%d manifests, %d parts with commands", len(manifests), len(commands))
	}
	runScripts(t, "testdata/docs/terraform", func(env *testscript.Env) error {
		for name, content := range map[string]string{"encryption.hcl": manifests[0], "main.hcl": manifests[1], "all.sh": strings.Join(commands, "")} {
			if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(content), 0o600); err != nil {
				return err
			}
		}
		return nil
	})
}

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
	encrypted := "deployster {\n  encryption {\n    passphrase_file = \"passphrase\"\n  }\n}\n"
	if !strings.Contains(read(t, "docs/terraform.md"), encrypted) {
		t.Error("the page of providers shows another encryption block")
	}
	for name, text := range map[string]string{"encryption.hcl": encrypted, "passphrase": "open sesame, and quickly\n"} {
		if err := os.WriteFile(filepath.Join(p.work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.exits(0, "state", "reencrypt")
	if text, err := os.ReadFile(filepath.Join(p.work, "deployster.state.json")); err != nil || strings.Contains(string(text), "time_offset") {
		t.Errorf("the state is in clear text: %v", err)
	}
	said := p.exits(0, "plan", "-detailed-exitcode")
	if !strings.Contains(said, "No changes. All 3 resources match the configuration.") {
		t.Errorf("the plan: %s", said)
	}
	p.exits(0, "apply", "-auto-approve")
	p.exits(0, "plan", "-detailed-exitcode")
	p.exits(0, "destroy", "-auto-approve")
}
