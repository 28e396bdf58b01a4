package images

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"deployster/internal/base/diag"
)

// saving is a Store of one image that is only saved.
type saving struct {
	Store
	err error
}

func (s saving) Save(_ context.Context, _ string, to io.Writer) error {
	_, err := io.WriteString(to, "image")
	return errors.Join(err, s.err)
}

// A link stays a link, who may read other files may read this one, and what fails leaves
// nothing behind and says why.
func TestSaveTo_ReplacesAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if err := SaveTo(t.Context(), saving{}, "a", link); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(file)
	if err != nil {
		t.Fatalf("what the link names: %v", err)
	}
	if info.Mode() != 0o644 {
		t.Errorf("its mode is %s", info.Mode())
	}
	if text, err := os.ReadFile(link); string(text) != "image" {
		t.Errorf("saved %q, %v", text, err)
	}
	missing := diag.Errorf("No such image", "It is not here.")
	if err := SaveTo(t.Context(), saving{err: missing}, "a", filepath.Join(dir, "other")); !errors.Is(err, missing) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left %v, %v", left, err)
	}
}
