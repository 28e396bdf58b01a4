package hosts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/internal/app/workspace"
	"deployster/internal/base/programs"
)

// Without one of the programs that every host needs, its name is in the error, and nothing is sent.
func TestBundle_NamesWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(programs.Variable, dir)
	for _, name := range []string{"deployster-agent", "deployster-host"} {
		if _, err := bundle(t.Context(), workspace.Options{CacheDir: t.TempDir()}); err == nil || !strings.HasPrefix(err.Error(), name+" is not installed") {
			t.Errorf("without %s: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("program"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := bundle(t.Context(), workspace.Options{CacheDir: t.TempDir()}); err != nil {
		t.Error(err)
	}
}

// A program that was built after it was compressed is what hosts get, and the first directory that has either counts: no
// host gets a program of another build.
func TestPart_IsOfTheLatestBuild(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, c := range map[string]struct {
		program, small time.Duration // their age; 0 = there is none
		want           string
	}{
		"compressed with the build": {time.Hour, time.Hour, "p.zst"},
		"compressed after it":       {2 * time.Hour, time.Hour, "p.zst"},
		"built again":               {time.Hour, 2 * time.Hour, "p"},
		"installed compressed only": {0, time.Hour, "p.zst"},
		"never compressed":          {time.Hour, 0, "p"},
	} {
		first, dir, later := t.TempDir(), t.TempDir(), t.TempDir()
		for path, age := range map[string]time.Duration{filepath.Join(dir, "p"): c.program, filepath.Join(dir, "p.zst"): c.small,
			filepath.Join(later, "p"): time.Minute, filepath.Join(later, "p.zst"): time.Minute} {
			if age == 0 {
				continue
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
		if got := part([]string{first, dir, later}, "p"); got != filepath.Join(dir, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := part([]string{t.TempDir()}, "p"); got != "" {
		t.Errorf("there is none: %s", got)
	}
}
