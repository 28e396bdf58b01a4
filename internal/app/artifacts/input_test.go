package artifacts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/artifacttest"
	"deployster/internal/runtime/runner/typeclient"
)

// publishing is a Client over a manifest with a publish whose input is plug.it, which has this
// body; other is what else the manifest says.
func publishing(t *testing.T, dir, it, other string) *Client {
	t.Helper()
	text := fmt.Sprintf("artifact \"out\" {\n  type = \"acme/v1\"\n}\nplug \"it\" {\n%s\n}\n%s\n"+
		"publish \"release\" {\n  artifact = artifact.out\n  inputs = { it = plug.it }\n}\n", it, other)
	m, diags := config.Load(config.Sources{Workspace: dir, Dir: dir, Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(text)}}}, nil,
		config.Builtins{Version: "0.1.0", Home: "/"})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	w := artifacttest.NewWorld()
	w.AddImage("acme/v1", artifact.Concourse1)
	return New(Options{Client: w, Manifest: m})
}

// A link that an image could have made is not published, nor what is given to no container.
func TestInput_IsNotWhatAnImageLeadsTo(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "build"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "build/image.tar")); err != nil {
		t.Fatal(err)
	}
	const tar = `path = "./build/image.tar"`
	for _, c := range []struct{ name, it, other, want string }{
		{"a link in a writable plug", tar, "plug \"build\" {\n  path = \"./build\"\n}", "is a symbolic link in the plug"},
		{"a link in a plug that is read only", tar, "plug \"build\" {\n  path = \"./build\"\n  read_only = true\n}", ""},
		{"what is withheld", `path = "./build"`, "", "is deployster's own"},
	} {
		f := publishing(t, dir, c.it, c.other)
		f.o.Withheld = func(path string) string {
			return map[bool]string{true: "is deployster's own"}[path == filepath.Join(dir, "build")]
		}
		to := t.TempDir()
		err := f.fill(t.Context(), f.publishes[address], to)
		_, absent := os.Lstat(filepath.Join(to, "it"))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || (absent == nil) != (c.want == "") {
			t.Errorf("%s: %v, and of the copy %v, want %q", c.name, err, absent, c.want)
		}
	}
}

// The lists of a plug are for publishes as they are for resources: a plan says it.
func TestInput_IsForWhomThePlugIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for list, allowed := range map[string]bool{
		"":                                    true,
		`resource_types = ["acme/"]`:          true,
		`resource_names = ["publish\\.rel"]`:  true,
		`resource_types = ["other/"]`:         false,
		`resource_names = ["release", "web"]`: false,
	} {
		f := publishing(t, dir, "path = \".\"\n"+list, "")
		_, err := f.Init(t.Context(), typeclient.Target{Address: address, Reference: "acme/v1"})
		filled := f.fill(t.Context(), f.publishes[address], t.TempDir())
		for _, err := range []error{err, filled} {
			if (err == nil) != allowed || err != nil && diag.From("", err)[0].Summary != "Plug not allowed" {
				t.Errorf("%s: %v", list, err)
			}
		}
	}
}
