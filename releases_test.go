package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"deployster/config/lockfile"
	"deployster/state"
)

const releases = "testdata/releases"

// Every version in the changelog has a directory with the files that it wrote: those of a
// version that was released are never changed.
func TestReleases_HaveTheirFiles(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	versions := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)`).FindAllStringSubmatch(string(text), -1)
	if len(versions) == 0 {
		t.Fatal("CHANGELOG.md has no version")
	}
	for _, v := range versions {
		for _, name := range []string{"deployster.state.json", lockfile.Name} {
			if _, err := os.Stat(filepath.Join(releases, v[1], name)); err != nil {
				t.Errorf("%s is missing: docs/install.md describes how a release is made: %v", name, err)
			}
		}
	}
}

// What any released version has written is read for ever, and says what it said.
func TestReleases_AreRead(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(releases)
	if err != nil || len(entries) == 0 {
		t.Fatal(entries, err)
	}
	for _, e := range entries {
		dir := filepath.Join(releases, e.Name())
		copied := filepath.Join(t.TempDir(), "deployster.state.json") // reading may repair
		content, err := os.ReadFile(filepath.Join(dir, "deployster.state.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied, content, 0o600); err != nil {
			t.Fatal(err)
		}
		s, _, err := state.Load(state.File(copied))
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		day := s.Resources[`day["monday"]`]
		if len(s.Resources) != 4 || string(day.Config) != `{"name":"monday","text":"hello"}` || string(day.State) != `{"text":"hello"}` ||
			!day.Adopted || !slices.Equal(day.Sensitive.Config, []string{"/text"}) || s.Resources["all"].Dependencies[2] != "site" ||
			string(s.Outputs["version"].Value) != `"2cf24dba5fb0"` || len(s.Artifacts) != 1 || len(s.Applied) != 1 {
			t.Errorf("%s is read as %+v", dir, s)
		}
		lock, diags := lockfile.Read(dir)
		if diags.HasErrors() || lock == nil || len(lock.Images) != 3 || lock.Artifacts["page"].Version["ref"] != "2cf24dba5fb0" {
			t.Errorf("the lock file of %s: %+v, %v", dir, lock, diags)
		}
	}
}
