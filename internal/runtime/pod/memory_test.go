package pod

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemoryEvents_AreThoseOfTheVersion(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"memory.events", "memory/memory.oom_control"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := memoryEvents(dir); got != path {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got, want := memoryEvents("/absent"), "/absent/memory.events"; got != want {
		t.Errorf("without a control group: %s", got)
	}
}
