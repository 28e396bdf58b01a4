package daemon

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A safe runc is asked for its version once; one that took its place is asked,
// and so is one that is not safe.
func TestRunc_IsQueriedOnce(t *testing.T) {
	t.Parallel()
	data, bin := t.TempDir(), t.TempDir()
	installed := ""
	runc, log := filepath.Join(bin, "runc"), filepath.Join(bin, "log")
	install := func(version string) {
		t.Helper()
		fresh := filepath.Join(bin, "fresh")
		if err := os.WriteFile(fresh, []byte("#!/bin/sh\necho asked >>"+log+"\necho runc version "+version+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(fresh, runc); err != nil {
			t.Fatal(err)
		}
		installed = version
	}
	wants := func(safe bool, asked int) {
		t.Helper()
		version, got, err := checkRunc(context.Background(), data, runc)
		b, _ := os.ReadFile(log) // none = it was not asked
		if n := strings.Count(string(b), "asked"); err != nil || got != safe || n != asked || version != installed {
			t.Errorf("%s is safe %v, asked %d times, %v; want %s, %v, %d", version, got, n, err, installed, safe, asked)
		}
	}
	install("1.4.3")
	wants(true, 1)
	wants(true, 1)
	install("1.1.5")
	wants(false, 2)
	wants(false, 3)
	install("1.5.0")
	wants(true, 4)
	if err := os.WriteFile(filepath.Join(data, "runc.json"), []byte(`{"path":`), 0o600); err != nil {
		t.Fatal(err)
	}
	wants(true, 5)
	wants(true, 5)
	if err := os.Chmod(runc, 0o700); err != nil {
		t.Fatal(err)
	}
	wants(true, 6)
}
