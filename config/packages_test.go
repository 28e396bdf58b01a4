package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/modsource"
	"deployster/internal/runtime/runner"
)

// packages has modules in memory, by the source without the directory.
type packages struct {
	of     map[string]Package
	asked  []string
	verify *runner.Verify
}

func (p *packages) Package(a modsource.Address, verify *runner.Verify) (Package, error) {
	p.asked, p.verify = append(p.asked, a.Package()), verify
	found, is := p.of[a.Package()]
	if !is {
		return Package{}, errors.New("there is none")
	}
	return found, nil
}

func bytesOf(files map[string]string) map[string][]byte {
	out := map[string][]byte{}
	for name, text := range files {
		out[name] = []byte(text)
	}
	return out
}

// withPackages loads a manifest whose modules come from packages.
func withPackages(t *testing.T, text string, p *packages) (*Manifest, diag.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	src, diags := Find(dir, nil, nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	src.Packages = p
	return Load(src, nil, Builtins{Home: "/h"})
}

const ofPackages = `
module "web" {
  source = "git::https://git.example.com/mods.git//web?ref=v1"
}
module "again" {
  source = "git::https://git.example.com/mods.git//web?ref=v1"
}
output "web" { value = [module.web.text, module.again.text] }
`

func modsPackages() *packages {
	return &packages{of: map[string]Package{"git::https://git.example.com/mods.git?ref=v1": {
		Files: bytesOf(map[string]string{
			"web/main.hcl": `module "base" { source = "../base" }
output "text" {
  value = [module.base.text, file("${path.module}/l.txt"), fileset(path.module, "**/*.txt"), basename(path.module), fileexists("${path.module}/no"),
    file("${path.module}/d/c.txt")]
}`,
			"web/a.txt":        "a",
			"base/main.hcl":    `output "text" { value = file("${path.module}/b.txt") }`,
			"base/b.txt":       "b",
			"shared/c.txt":     "c",
			"base/vars.x":      "",
			"web/sub/deep.txt": "x",
		}),
		Links: map[string]string{"web/l.txt": "a.txt", "web/d": "../shared", "web/loop": "loop"},
	}}}
}

func TestPackages_AreReadFromMemory(t *testing.T) {
	p := modsPackages()
	m, diags := withPackages(t, ofPackages, p)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	out, diags := m.Outputs(nil)
	want := `["b","a",["a.txt","l.txt","sub/deep.txt"],"web",false,"c"]`
	if got := string(out[0].Value); diags.HasErrors() || got != "["+want+","+want+"]" {
		t.Errorf("%s, %v", got, diags)
	}
	for dir, files := range m.Sources().Modules {
		if !strings.HasPrefix(dir, ".deployster-modules/mods-") || !strings.HasPrefix(files[0].Path, "git::https://git.example.com/mods.git?ref=v1//") {
			t.Errorf("%s: %s", dir, files[0].Path)
		}
	}
}

// A plan has the modules, and what their functions read: nothing is fetched for it again.
func TestPackages_ASavedPlanHasWhatItNeeds(t *testing.T) {
	m, diags := withPackages(t, ofPackages, modsPackages())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	before, _ := m.Outputs(nil)
	src := m.Sources()
	src.Replay, src.Packages = true, nil
	again, diags := Load(src, nil, Builtins{Home: "/h"})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if after, _ := again.Outputs(nil); string(after[0].Value) != string(before[0].Value) {
		t.Errorf("%s, then %s", before[0].Value, after[0].Value)
	}
}

func TestPackages_AModuleStaysInItsPackage(t *testing.T) {
	for source, want := range map[string]string{
		"../../x":        "leads outside of the module that was fetched",
		"../../../../..": "leads outside of the module that was fetched",
		"../none":        "There is no manifest in the directory none of git::",
		"./loop":         "There is no manifest",
	} {
		p := modsPackages()
		p.of["git::https://git.example.com/mods.git?ref=v1"].Files["web/main.hcl"] = []byte(`module "x" { source = "` + source + `" }`)
		_, diags := withPackages(t, `module "web" { source = "git::https://git.example.com/mods.git//web?ref=v1" }`, p)
		if !diags.HasErrors() || !strings.Contains(diags.Error(), want) || !strings.Contains(diags.Error(), "git::https://git.example.com/mods.git?ref=v1//web/main.hcl:1") {
			t.Errorf("%s: %v", source, diags)
		}
	}
	p := modsPackages()
	p.of["git::https://git.example.com/mods.git?ref=v1"].Files["web/main.hcl"] = []byte(`output "x" { value = file("${path.module}/../../../../etc/passwd") }`)
	if m, diags := withPackages(t, `module "web" { source = "git::https://git.example.com/mods.git//web?ref=v1" }
output "x" { value = module.web.x }`, p); !diags.HasErrors() || !strings.Contains(diags.Error(), "is outside the directory") {
		t.Errorf("%v %v", m, diags)
	}
}

func TestPackages_SourcesAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		`source = "github.com/acme/web"`:                                                 "git::https://HOST/PATH",
		`source = "registry.example.com/acme/web/aws"`:                                   "not a source that deployster knows",
		`source = "git::git@h:x.git"`:                                                    "ssh://USER@HOST/PATH",
		`source = "git::https://h/none.git"`:                                             "Cannot use the module git::https://h/none.git",
		"source = \"git::https://h/a.git\"\n  verify {\n    key = \"x\"\n  }":            "has no signatures of cosign",
		"source = \"./x\"\n  verify {\n    key = \"x\"\n  }":                             "is a directory: remove the block",
		"source = \"oci://h/a:1\"\n  verify {\n    key = \"none.pub\"\n  }":              "none.pub",
		"source = \"oci://h/a:1\"\n  verify {\n    key = var.x\n  }":                     "must be a text constant",
		"source = \"oci://h/a:1\"\n  verify {\n    repository = \"registry.com/x\"\n  }": "key",
		"source = \"oci://h/a:1\"\n  verify {\n  }":                                      "key",
		"source = \"oci://h/a:1\"\n  other {\n  }":                                       "a block verify",
	} {
		p := &packages{of: map[string]Package{"oci://h/a:1": {Files: bytesOf(map[string]string{"main.hcl": ""})}}}
		if _, diags := withPackages(t, "module \"web\" {\n  "+text+"\n}\n", p); !diags.HasErrors() || !strings.Contains(diags.Error(), want) ||
			!strings.Contains(diags.Error(), "main.hcl:") {
			t.Errorf("%s: %v", text, diags)
		}
	}
}

// keyPEM is a public key.
func keyPEM(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// What a verify block names is required of the image, in both syntaxes, and a replay needs no key.
func TestPackages_AVerifyBlockIsPassedOn(t *testing.T) {
	key := keyPEM(t)
	asJSON, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"main.hcl":      "module \"web\" {\n  source = \"oci://h.com/a:1\"\n  x = 1\n  verify {\n    key = <<E\n" + key + "E\n    repository = \"h.com/signed\"\n  }\n}\n",
		"main.hcl.json": `{"module": {"web": {"source": "oci://h.com/a:1", "x": 1, "verify": {"key": ` + string(asJSON) + `, "repository": "h.com/signed"}}}}`,
	} {
		p := &packages{of: map[string]Package{"oci://h.com/a:1": {Files: bytesOf(map[string]string{"main.hcl": "variable \"x\" {}"})}}}
		src := Sources{Workspace: "/w", Dir: "/w", Manifests: []File{{Path: name, Bytes: []byte(text)}}, Packages: p}
		m, diags := Load(src, nil, Builtins{Home: "/h"})
		if diags.HasErrors() || p.verify == nil || strings.TrimSpace(string(p.verify.Keys)) != strings.TrimSpace(key) || p.verify.Repository != "h.com/signed" ||
			!p.verify.Module {
			t.Errorf("%s: %+v, %v", name, p.verify, diags)
			continue
		}
		src = m.Sources()
		src.Replay, src.Packages = true, nil
		if _, diags := Load(src, nil, Builtins{Home: "/h"}); diags.HasErrors() {
			t.Errorf("%s again: %v", name, diags)
		}
	}
}
