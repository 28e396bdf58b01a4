package apt

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"deployster/machine/internal/access"
)

// A simulation of the same transaction is used again until a file that apt decides by has changed.
func TestSimulator_RepeatsWhatMayHaveChanged(t *testing.T) {
	t.Parallel()
	m := &access.Machine{Root: t.TempDir()}
	write := func(path, text string) {
		t.Helper()
		file := m.Path(path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	runs := 0
	s := &simulator{machine: m, run: func(context.Context, *access.Machine, ...string) (transaction, error) {
		runs++
		return transaction{{name: "hello", to: "1"}}, nil
	}}
	wants := func(n int, why string, args ...string) {
		t.Helper()
		runs = 0
		for range 2 {
			if would, err := s.simulate(t.Context(), args...); err != nil || len(would) != 1 || would[0].name != "hello" {
				t.Fatal(would, err)
			}
		}
		if runs != n {
			t.Errorf("%s: %d simulations, and not %d", why, runs, n)
		}
	}
	write(statusFile, "Package: dpkg\n")
	wants(1, "the first", "install", "--", "hello")
	wants(0, "nothing has changed", "install", "--", "hello")
	wants(1, "another transaction", "remove", "--", "hello")
	for _, path := range []string{statusFile, updatesDir + "/0001", listsDir + "/deb_Packages", "/var/lib/apt/extended_states",
		"/etc/apt/preferences.d/pin", "/etc/apt/sources.list", "/etc/apt/apt.conf.d/90own"} {
		write(path, `APT::Default-Release "stable"; Dir::Cache::pkgcache "";`)
		wants(1, path, "install", "--", "hello")
	}
	if err := os.Remove(m.Path("/etc/apt/preferences.d/pin")); err != nil {
		t.Fatal(err)
	}
	wants(1, "a file that is gone", "install", "--", "hello")
	write(listsDir+"/partial/deb_Packages", "")
	for _, settings := range []string{`Dir::Etc::preferences "/opt/pins";`, `#include "/opt/apt.conf"`, `Dir { Etc "/opt"; };`, `RootDir "/opt";`} {
		write("/etc/apt/apt.conf.d/90own", settings)
		wants(2, settings, "install", "--", "hello")
	}
}
