package workspace

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"deployster/config"
	"deployster/internal/base/diag"
)

func TestSpareMemory_LowersTheGCPercent(t *testing.T) {
	const usual = 400
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	for name, c := range map[string]struct {
		resources int
		environ   []string
		percent   int
	}{
		"few":             {manyResources, nil, usual},
		"many":            {manyResources + 1, nil, afterwards},
		"the user's GOGC": {manyResources + 1, []string{"GOGC=50"}, usual},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetGCPercent(usual)
			New(Options{Environ: c.environ}).spareMemory(c.resources, afterwards)
			if got := debug.SetGCPercent(usual); got != c.percent {
				t.Errorf("%d percent, want %d", got, c.percent)
			}
		})
	}
}

// While manifests are read the heap may grow more than afterwards.
func TestSpareMemory_WhileReading(t *testing.T) {
	const usual = 400
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	dir, meanwhile := t.TempDir(), 0
	manifest := strings.Repeat("#"+strings.Repeat(" ", resourceSize)+"\n", manyResources+1) + "output \"one\" {\n  value = 1\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func(s config.Sources, v []config.VarInput, b config.Builtins) (*config.Manifest, diag.Diagnostics) {
		meanwhile = debug.SetGCPercent(usual)
		debug.SetGCPercent(meanwhile)
		return config.Load(s, v, b)
	}
	_, diags, err := New(Options{Dir: dir}).read(t.Context(), Inputs{}, load)
	if err != nil || diags.HasErrors() {
		t.Fatal(err, diags)
	}
	if after := debug.SetGCPercent(usual); meanwhile != whileReading || after != afterwards {
		t.Errorf("%d percent, and %d afterwards", meanwhile, after)
	}
}

// Many hosts have much under way, however few resources there are.
func TestSpareForHosts_LowersTheGCPercent(t *testing.T) {
	const usual = 400
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	for hosts, percent := range map[int]int{0: usual, 30: usual, 31: afterwards, 200: afterwards} {
		debug.SetGCPercent(usual)
		SpareForHosts(New(Options{}), hosts)
		if got := debug.SetGCPercent(usual); got != percent {
			t.Errorf("%d hosts: %d percent, want %d", hosts, got, percent)
		}
	}
}

func TestStayLong_LowersTheGCPercent(t *testing.T) {
	const usual = 400
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	for name, c := range map[string]struct {
		resources int
		environ   []string
		percent   int
	}{
		"few":             {manyResources, nil, 100},
		"many":            {manyResources + 1, nil, 50},
		"the user's GOGC": {manyResources + 1, []string{"GOGC=70"}, usual},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetGCPercent(usual)
			StayLong(New(Options{Environ: c.environ}), c.resources)
			if got := debug.SetGCPercent(usual); got != c.percent {
				t.Errorf("%d percent, want %d", got, c.percent)
			}
		})
	}
}
