package ssh

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// setMachine makes the host one of another architecture, as its uname says it.
func (r *env) setMachine(t *testing.T, machine string) {
	t.Helper()
	dir := t.TempDir()
	text := "#!/bin/sh\n[ \"$1\" = -m ] || exec /bin/uname \"$@\"\necho " + machine + "\n"
	if err := os.WriteFile(filepath.Join(dir, "uname"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	r.options.Command[2] = "PATH=" + dir + ":$PATH\n" + r.options.Command[2]
}

// A host of another architecture is given the bundle that lies beside the program, and one of
// this architecture what it is given else.
func TestDial_AnotherArchitecture(t *testing.T) {
	t.Parallel()
	r := newEnv(t, "")
	own, err := r.options.Bundle(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	other := other(t)
	r.options.Find = inDir(filepath.Dir(other.Path))
	for _, c := range []struct {
		machine string
		want    Bundle
	}{{"aarch64", other}, {r.options.Arch, own}} {
		at := *r
		at.options.Command = slices.Clone(r.options.Command)
		at.host.DataDir = filepath.Join(t.TempDir(), "data")
		at.setMachine(t, c.machine)
		for range 2 {
			client, err := at.dial(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Close(); err != nil {
				t.Error(err)
			}
			installed, err := filepath.Glob(at.host.DataDir + "/far/*")
			if err != nil || len(installed) != 1 || filepath.Base(installed[0]) != c.want.SHA256 {
				t.Errorf("%s: installed %q, want %s (%v)", c.machine, installed, c.want.SHA256, err)
			}
		}
	}
}

// other makes the bundle of another architecture, of this program, as `make bundle` does.
func other(t *testing.T) Bundle {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, otherName("arm64"))
	line := fmt.Sprintf("mkdir %[1]s/in && ln -s %[2]s %[1]s/in/deployster-host && tar -chC %[1]s/in . | gzip -1n >%[3]s && cd %[1]s && "+
		"sha256sum *.bundle >%[3]s.sha256", dir, self, path)
	if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sum, err := os.ReadFile(path + ".sha256")
	if err != nil {
		t.Fatal(err)
	}
	return Bundle{Path: path, SHA256: strings.Fields(string(sum))[0]}
}

// A bundle without a checksum would be refused by every host, after it was sent.
func TestDial_BundleWithoutAChecksum(t *testing.T) {
	t.Parallel()
	r := newEnv(t, "")
	dir := t.TempDir()
	r.options.Find = inDir(dir)
	path := filepath.Join(dir, otherName("arm64"))
	for file, text := range map[string]string{path: "", path + ".sha256": "none\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.dial(context.Background()); err == nil || !strings.Contains(err.Error(), "has no checksum of SHA-256") {
		t.Errorf("got %v", err)
	}
}

// inDir returns a lookup that finds the files of a directory.
func inDir(dir string) func(name string) string {
	return func(name string) string {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err != nil {
			return ""
		}
		return path
	}
}
