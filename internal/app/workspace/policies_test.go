package workspace

import (
	"path/filepath"
	"strings"
	"testing"
)

// A directory without policies is named, and the error is not that of a workspace without manifests.
func TestPoliciesIn_NamesTheDirectory(t *testing.T) {
	t.Parallel()
	w := New(Options{Dir: t.TempDir()})
	for dir, want := range map[string]string{filepath.Join(w.Dir, "rules"): "rules: no such file or directory", w.Dir: "There is no manifest in " + w.Dir + ": no file"} {
		if _, err := w.Reader().PoliciesIn(dir); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "acme/file") {
			t.Errorf("%s: got %v, want %q", dir, err, want)
		}
	}
}
