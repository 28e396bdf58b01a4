package app

import (
	"os"
	"path/filepath"
	"testing"

	"deployster/internal/app/approval"
	"deployster/internal/app/workspace"
)

// A file without resources is a part of everything in which there is nothing to do: what the other files declare stays.
func TestEngine_ApplyOfAFileWithoutResources(t *testing.T) {
	e, world := newEngine(t)
	auto := approval.Options{Auto: true}
	if _, err := e.Apply(t.Context(), ApplyOptions{Approval: auto}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(e.Workspace.Dir, "other.hcl"), []byte("locals { a = 1 }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Apply(t.Context(), ApplyOptions{Approval: auto, Inputs: workspace.Inputs{Paths: []string{"other.hcl"}}}); err != nil {
		t.Fatal(err)
	}
	if len(world.Things()) != 1 {
		t.Errorf("the world has %v: what another file declares was destroyed", world.Things())
	}
}
