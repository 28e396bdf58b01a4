//go:build linux

package e2e

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/internal/app/images"
	"deployster/internal/testkit/services"
)

// terraformDir has terraform with our provider, hashicorp/time and hashicorp/local, from a directory of this
// machine, in the directory of a project. They are packed as migrate says, the last with a plug for the project's files.
func (p *terraformProject) terraformDir(config string) func(want int, args ...string) string {
	p.t.Helper()
	program := services.Terraform(p.t)
	root, err := os.Getwd()
	if err != nil {
		p.t.Fatal(err)
	}
	mirror := filepath.Join(p.root, "mirror")
	for _, b := range []struct{ in, what, out string }{
		{"bridge", "./internal/testprovider/terraform-provider-test", "example.com/test/test/1.0.0/linux_amd64/terraform-provider-test_v1.0.0"},
		{"bridge/testdata/providers", "github.com/hashicorp/terraform-provider-time",
			"registry.terraform.io/hashicorp/time/0.14.2/linux_amd64/terraform-provider-time_v0.14.2"},
		{"bridge/testdata/providers/local", "github.com/terraform-providers/terraform-provider-local",
			"registry.terraform.io/hashicorp/local/1.4.0/linux_amd64/terraform-provider-local_v1.4.0"},
	} {
		out := filepath.Join(mirror, b.out)
		cmd := exec.Command("go", "build", "-mod=mod", "-o", out, b.what)
		cmd.Dir, cmd.Env = filepath.Join(root, b.in), append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			p.t.Fatalf("%s cannot be built: %v: %s", b.what, err, text)
		}
		name := strings.Split(b.out, "/")[2:4]
		program := filepath.Join(filepath.Dir(out), "packed", "provider")
		if err := errors.Join(os.Mkdir(filepath.Dir(program), 0o755), os.Link(out, program)); err != nil {
			p.t.Fatal(err)
		}
		pack := []string{"image", "pack", "-t", "tf/" + name[0] + ":" + name[1], "-entrypoint", "/deployster-terraform"}
		if name[0] == "local" { // as -plug files=/work:rw -workdir /work does beside -terraform-provider
			pack = append(pack, "-workdir", "/work", "-env", images.PlugsVariable+"=files=/work:rw")
		}
		p.must(append(pack, filepath.Join(p.root, "bin/deployster-terraform"), program)...)
	}
	rc, temporary := filepath.Join(p.root, "rc"), filepath.Join(p.root, "t")
	err = errors.Join(os.Mkdir(temporary, 0o700),
		os.WriteFile(rc, []byte("disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror { path = \""+mirror+"\" }\n}\n"), 0o600),
		os.CopyFS(p.work, os.DirFS(filepath.Join(root, config))))
	if err != nil {
		p.t.Fatal(err)
	}
	return func(want int, args ...string) string {
		p.t.Helper()
		cmd := exec.Command(program, append(args, "-no-color")...)
		cmd.Dir, cmd.Env = p.work, append(os.Environ(), "TF_CLI_CONFIG_FILE="+rc, "TF_DISABLE_PLUGIN_TLS=1", "TF_VAR_world="+p.api.URL, "TF_DATA_DIR=",
			"TMPDIR="+temporary) // of providers, which terraform kills
		text, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
			p.t.Fatalf("terraform %v: %v, want exit code %d: %s", args, err, want, text)
		}
		return string(text)
	}
}

// exits runs the command, which must end with a code.
func (p *terraformProject) exits(want int, args ...string) string {
	p.t.Helper()
	cmd := p.command(args...)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
		p.t.Fatalf("deployster %v: %v, want exit code %d: %s", args, err, want, text)
	}
	return string(text)
}

// What terraform has made, with modules, count, for_each, aliases, moved blocks and outputs,
// is taken over: where its plan has no changes, ours has none, also of what is ignored.
// Then the same objects are changed, and destroyed.
func TestMigrate_Terraform(t *testing.T) {
	t.Parallel()
	p := newTerraformProject(t, 1)
	terraform := p.terraformDir("testdata/terraform")
	terraform(0, "init")
	terraform(0, "apply", "-auto-approve")
	p.edit("main.tf", `a = "x"`, `a = "is ignored"`)
	terraform(0, "plan", "-detailed-exitcode")
	made := p.api.Things()
	if len(made) != 12 {
		t.Fatalf("terraform has made %v", made)
	}
	before, err := os.ReadFile(filepath.Join(p.work, "terraform.tfstate"))
	if err != nil {
		t.Fatal(err)
	}

	said := p.exits(0, "migrate", "terraform", ".")
	for _, want := range []string{"wrote modules/box/inner/x.hcl", "with 15 resources", "hashicorp/local/1.4.0/linux_amd64 -plug files=/work:rw -workdir /work", "base_rfc3339"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
	p.environ = append(p.environ, "DEPLOYSTER_VAR_world="+p.api.URL)
	if said = p.exits(0, "plan", "-detailed-exitcode"); !strings.Contains(said, "No changes. All 16 resources match the configuration.") {
		t.Errorf("the plan: %s", said)
	}
	if shown := p.exits(0, "state", "show", `each["a"]`); !strings.Contains(shown, "each-a") || strings.Contains(shown, "sesame") {
		t.Errorf("before it is applied, the config is not recorded, or a secret is shown: %s", shown)
	}
	p.exits(0, "apply", "-auto-approve")
	p.exits(0, "plan", "-detailed-exitcode")
	if now := p.api.Things(); !maps.Equal(now, made) {
		t.Errorf("there was %v, and is %v", made, now)
	}
	if after, err := os.ReadFile(filepath.Join(p.work, "terraform.tfstate")); err != nil || string(after) != string(before) {
		t.Errorf("terraform's state was changed: %v", err)
	}
	if said = p.exits(1, "migrate", "terraform", "."); !strings.Contains(said, "A state exists already") {
		t.Errorf("a second time: %s", said)
	}

	p.edit("main.hcl", `"box-${each.key}"`, `"changed-${each.key}"`, "days = 7", "days = 9", "a note", "another note")
	p.exits(0, "apply", "-auto-approve")
	if text, err := os.ReadFile(filepath.Join(p.work, "note.txt")); err != nil || string(text) != "another note" {
		t.Errorf("the file that the provider of files writes is %q, %v", text, err)
	}
	p.exits(0, "plan", "-detailed-exitcode")
	now := p.api.Things()
	if !slices.Equal(slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(made))) || maps.Equal(now, made) {
		t.Errorf("changed in place, there was %v, and is %v", made, now)
	}
	p.exits(0, "destroy", "-auto-approve")
	if left := p.api.Things(); len(left) != 0 {
		t.Errorf("not destroyed: %v", left)
	}
}

// edit changes a file: each text is there, and becomes the one after it.
func (p *terraformProject) edit(name string, texts ...string) {
	p.t.Helper()
	path := filepath.Join(p.work, name)
	text, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	for i := 0; i < len(texts); i += 2 {
		if !strings.Contains(string(text), texts[i]) {
			p.t.Fatalf("%s has no %q: %s", name, texts[i], text)
		}
	}
	if err := os.WriteFile(path, []byte(strings.NewReplacer(texts...).Replace(string(text))), 0o600); err != nil {
		p.t.Fatal(err)
	}
}
