package durable

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Who locks a file that was removed meanwhile sees it.
func TestLock_InPlace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	first, err := TryLock(path, true, "first")
	if err != nil || !first.InPlace() {
		t.Fatal(err)
	}
	if err := first.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file stays: %v", err)
	}
	second, err := TryLock(path, true, "second")
	if err != nil || !second.InPlace() {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".away"); err != nil || second.InPlace() {
		t.Errorf("without a file: %v, %v", second.InPlace(), err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil || second.InPlace() {
		t.Errorf("another file: %v, %v", second.InPlace(), err)
	}
	if err := second.Unlock(); err != nil {
		t.Fatal(err)
	}
}
