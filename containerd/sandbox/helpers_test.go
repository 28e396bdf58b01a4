package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"deployster/internal/base/diag"
)

func isDiagnostic(err error) bool {
	var d *diag.Diagnostic
	return errors.As(err, &d) && d.Severity == diag.Error && d.Summary != "" && d.Detail != ""
}

// mountable makes files and directories that tests grant.
func mountable(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"dir/sub", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"file": "a file", "dir/in": "in the directory", "dir/sub/deep": "below", "other/secret": "secret"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": "file", "dirlink": "dir"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
