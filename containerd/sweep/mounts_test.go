package sweep

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/containerd/containerd/v2/core/mount"
)

// TestSweeper_UnmountsWhatADeadClientRead removes the files of a client that was killed
// while it looked into an image.
func TestSweeper_UnmountsWhatADeadClientRead(t *testing.T) {
	t.Parallel()
	w := Sweeper{RuntimeDir: t.TempDir()}
	looked := filepath.Join(w.RuntimeDir, "io", "dead", "look", "1")
	if err := os.MkdirAll(looked, 0o700); err != nil {
		t.Fatal(err)
	}
	files := t.TempDir()
	if err := os.WriteFile(filepath.Join(files, "passwd"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mount.UnmountAll(looked, 0) })
	if err := mount.All([]mount.Mount{{Type: "bind", Source: files, Options: []string{"rbind", "ro"}}}, looked); err != nil {
		t.Fatal(err)
	}
	if err := w.removeIO("dead"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(w.RuntimeDir, "io", "dead")); !os.IsNotExist(err) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(files, "passwd")); err != nil {
		t.Error(err)
	}
}
