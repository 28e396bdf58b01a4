package workspace

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"deployster/config"
	"deployster/internal/base/collector"
	"deployster/internal/base/diag"
)

// While manifests are read the heap may grow more than afterwards.
func TestManifest_SparesMemoryWhileRead(t *testing.T) {
	const usual = 400
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	dir, meanwhile := t.TempDir(), 0
	manifest := strings.Repeat("#"+strings.Repeat(" ", 100)+"\n", 3001) + "output \"one\" {\n  value = 1\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func(s config.Sources, v []config.VarInput, b config.Builtins) (*config.Manifest, diag.Diagnostics) {
		meanwhile = debug.SetGCPercent(usual)
		debug.SetGCPercent(meanwhile)
		return config.Load(s, v, b)
	}
	_, diags, err := New(Options{Dir: dir}).read(t.Context(), Inputs{}, load, config.Builtins{})
	if err != nil || diags.HasErrors() {
		t.Fatal(err, diags)
	}
	if after := debug.SetGCPercent(usual); meanwhile != collector.WhileReading || after != collector.Afterwards {
		t.Errorf("%d percent, and %d afterwards", meanwhile, after)
	}
}
