package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/app/workspace"
)

// An address that can be in no plan is told before anything is run.
func TestPlan_ExplainsNothingUnknown(t *testing.T) {
	t.Parallel()
	dir, begun := t.TempDir(), errors.New("the runtime is opened")
	manifest := "resource \"web\" {\n  type = \"x:1\"\n  config = {}\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	explained := func(addr string) error {
		e := New(Options{Workspace: workspace.Options{Dir: dir, DataDir: filepath.Join(dir, "data"), Version: "test"},
			Open: func(context.Context) (Runtime, error) { return nil, begun }})
		defer e.Close()
		_, err := e.Plan(t.Context(), PlanOptions{Explain: []string{addr}})
		return err
	}
	if err := explained("wep"); err == nil || !strings.Contains(err.Error(), "Did you mean web?") {
		t.Errorf("%v", err)
	}
	if err := explained("web"); !errors.Is(err, begun) {
		t.Errorf("%v", err)
	}
}
