package app

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
	"deployster/internal/app/images"
	"deployster/internal/app/workspace"
)

// Who changes the lock file writes all of it: nobody else reads it meanwhile to do the same.
func TestLockFile_IsChangedByOne(t *testing.T) {
	t.Parallel()
	base, _ := newEngine(t)
	first := New(Options{Workspace: workspace.Options{Dir: base.Dir, Version: "test"}, Open: base.options.Open})
	pins := map[string]config.Pin{"a": {Version: map[string]string{"ref": "1"}}, "b": {Version: map[string]string{"ref": "2"}}}
	if err := images.WritePins(first.Dir, nil, pins); err != nil {
		t.Fatal(err)
	}
	another := func(wait time.Duration) *Engine {
		e := New(Options{Workspace: workspace.Options{Dir: first.Dir, Version: "test", LockTimeout: wait}, Open: first.options.Open})
		t.Cleanup(e.Close)
		return e
	}
	desk, err := OpenPins(t.Context(), first, workspace.Inputs{}, "artifact unpin")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = another(0).Init(t.Context(), workspace.Inputs{}, false)
	if err == nil || !strings.Contains(err.Error(), "The lock file is locked") || !strings.Contains(err.Error(), "deployster artifact unpin (process") {
		t.Errorf("init beside it: %v", err)
	}
	if _, err := OpenPins(t.Context(), another(time.Millisecond), workspace.Inputs{}, "artifact pin"); err == nil ||
		!strings.Contains(err.Error(), "Gave up waiting after 1ms") {
		t.Errorf("another pin beside it: %v", err)
	}
	ended := make(chan error)
	go func() {
		_, _, err := another(time.Minute).Init(context.Background(), workspace.Inputs{}, false)
		ended <- err
	}()
	if _, err := desk.Unpin("a"); err != nil {
		t.Error(err)
	}
	first.Close()
	if err := <-ended; err != nil {
		t.Errorf("init that waited: %v", err)
	}
	lock, err := images.ReadLock(first.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(lock.Images) != 1 || len(lock.Artifacts) > 1 {
		content, _ := os.ReadFile(filepath.Join(first.Dir, config.LockName))
		t.Errorf("images %q, artifacts %q:\n%s", slices.Sorted(maps.Keys(lock.Images)), slices.Sorted(maps.Keys(lock.Artifacts)), content)
	}
}
