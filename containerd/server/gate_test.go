package server

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"deployster/containerd/layout"
)

// Who comes while a server takes its directory along keeps what he makes there.
func TestServer_WhoComesWhenItLeavesStays(t *testing.T) {
	t.Parallel()
	for range 10 {
		dir := filepath.Join(t.TempDir(), "run")
		leaving, err := layout.LockGate(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		// What takes some time to remove, before the gate and after it.
		for i := range 50 {
			for _, name := range []string{"clients/%d", "io/%d", "s/%d"} {
				file := filepath.Join(dir, fmt.Sprintf(name, i))
				if err := os.MkdirAll(file, 0o700); err != nil {
					t.Fatal(err)
				}
			}
		}
		gone := make(chan error, 1)
		go func() {
			err := removeRuntimeDir(dir)
			_ = leaving.Close() // as at the end of its process
			gone <- err
		}()
		for layout.InPlace(leaving) { // he comes at the worst moment
		}
		gate, err := layout.LockGate(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		held, err := layout.NewClientLock(t.Context(), dir, layout.NewID())
		if err != nil {
			t.Fatal(err)
		}
		if err := <-gone; err != nil {
			t.Fatal(err)
		}
		if !held.Valid() || !layout.InPlace(gate) {
			t.Fatal("a client who has just come was removed")
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
			t.Fatalf("%d things are there and not a gate and its clients (%v)", len(left), err)
		}
		_ = gate.Close()
		_ = held.Release()
	}
}
