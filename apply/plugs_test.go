package apply

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/apply/fresh"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/change"
)

// What a plan mounts must still be what it was.
func TestPlugs_MustMatchThePlan(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "key")
	p := &plan.Plan{Resources: map[string]*plan.Step{"a": {Mounts: []runner.Mount{{Source: file, Target: "/key"}}, Part: &change.Create{}}}}
	check := func(want string) {
		t.Helper()
		err := fresh.CheckPlugs(p, dir)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	check("plan is stale: a plug path does not exist")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	check("")
	other := filepath.Join(dir, "other")
	if err := os.Rename(file, other); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, file); err != nil {
		t.Fatal(err)
	}
	check("plan is stale: a plug path changed")
	p.Resources["a"].Part = &change.Valid{} // nothing is run for it
	check("")
}
