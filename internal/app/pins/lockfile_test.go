package pins

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/config"
	"deployster/internal/app"
	"deployster/internal/app/images"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner/runnertest"
)

// Who changes the lock file writes all of it: nobody else reads it meanwhile to do the same.
func TestLockFile_IsChangedByOne(t *testing.T) {
	t.Parallel()
	dir, fake := t.TempDir(), runnertest.NewFake()
	fake.Add("thing", runnertest.NewWorld().Program)
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte("resource \"a\" {\n  type = \"thing\"\n  config = {}\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(context.Context) (app.Runtime, error) { return runnertest.Runtime{Fake: fake}, nil }
	first := app.New(app.Options{Workspace: workspace.Options{Dir: dir, Version: "test"}, Open: open})
	pins := map[string]config.Pin{"a": {Version: map[string]string{"ref": "1"}}, "b": {Version: map[string]string{"ref": "2"}}}
	if err := images.WritePins(first.Workspace.Dir, nil, pins); err != nil {
		t.Fatal(err)
	}
	another := func(wait time.Duration) *app.Engine {
		e := app.New(app.Options{Workspace: workspace.Options{Dir: first.Workspace.Dir, Version: "test", LockTimeout: wait}, Open: open})
		t.Cleanup(e.Close)
		return e
	}
	service, err := OpenPins(t.Context(), first, workspace.Inputs{}, "artifact unpin")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = Init(t.Context(), another(0), workspace.Inputs{}, false, "")
	if err == nil || !strings.Contains(err.Error(), "The lock file is locked") || !strings.Contains(err.Error(), "deployster artifact unpin (process") {
		t.Errorf("init beside it: %v", err)
	}
	if _, err := OpenPins(t.Context(), another(time.Millisecond), workspace.Inputs{}, "artifact pin"); err == nil ||
		!strings.Contains(err.Error(), "Gave up waiting after 1ms") {
		t.Errorf("another pin beside it: %v", err)
	}
	ended := make(chan error)
	go func() {
		_, _, err := Init(context.Background(), another(time.Minute), workspace.Inputs{}, false, "")
		ended <- err
	}()
	if _, err := service.Unpin("a"); err != nil {
		t.Error(err)
	}
	first.Close()
	if err := <-ended; err != nil {
		t.Errorf("init that waited: %v", err)
	}
	lock, err := images.ReadLock(first.Workspace.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(lock.Images) != 1 || len(lock.Artifacts) > 1 {
		content, _ := os.ReadFile(filepath.Join(first.Workspace.Dir, config.LockName))
		t.Errorf("images %q, artifacts %q:\n%s", slices.Sorted(maps.Keys(lock.Images)), slices.Sorted(maps.Keys(lock.Artifacts)), content)
	}
}
