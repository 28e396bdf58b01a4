package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestDocs_SeveralStates does what docs/several-states.md tells, with its manifests, and wants the plan that it shows.
func TestDocs_SeveralStates(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/several-states.md")
	runScripts(t, "testdata/docs/states", func(env *testscript.Env) error {
		for _, text := range fences(page, "hcl") {
			first, _, _ := strings.Cut(text, "\n")
			path, named := strings.CutPrefix(first, "# ")
			if !named || !strings.HasSuffix(path, "/main.hcl") {
				continue
			}
			path = filepath.Join(env.WorkDir, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				return err
			}
		}
		for _, text := range fences(page, "text") {
			if strings.Contains(text, "remote_state") {
				env.Setenv("PLAN", regexp.QuoteMeta(text))
			}
		}
		return nil
	})
}
