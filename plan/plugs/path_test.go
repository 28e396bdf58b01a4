package plugs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/config"
)

func TestLead_RefusesLinksWithinWritablePlugs(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "data/sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"link": "data", "abs": filepath.Join(dir, "data/sub"), "up": "data/sub/../..", "loop": "loop", "data/evil": "/etc", "data/sub/in": "../..", "to-evil": "data/evil",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ path, want, fails string }{
		{path: "data/sub", want: "data/sub"},
		{path: "link/sub", want: "data/sub"},
		{path: "abs", want: "data/sub"},
		{path: "up/data", want: "data"},
		{path: "link/nothing/else", want: "data/nothing/else"},
		{path: "loop", fails: "has no target"},
		{path: "data/evil/shadow", fails: `in the plug "shared"`},
		{path: "to-evil", fails: `in the plug "shared"`},
		{path: "link/sub/in/link", fails: `in the plug "`},
	} {
		// What types may write to is found by where it is, not by how it is written.
		plugs := map[string]config.Plug{"shared": {Name: "shared", Path: filepath.Join(dir, "link")}, "mine": {Name: "mine", Path: filepath.Join(dir, c.path)}}
		got, err := ResolveLinks(plugs["mine"], plugs)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: got %q, %v", c.path, got, err)
			}
			continue
		}
		if err != nil || got != filepath.Join(dir, c.want) {
			t.Errorf("%s: got %q, %v", c.path, got, err)
		}
	}
	// A link in a plug that nobody may write to is the operator's own.
	shared := config.Plug{Name: "shared", Path: filepath.Join(dir, "data"), ReadOnly: true}
	mine := config.Plug{Name: "mine", Path: filepath.Join(dir, "data/sub/in/data"), ReadOnly: true}
	if got, err := ResolveLinks(mine, map[string]config.Plug{"shared": shared, "mine": mine}); err != nil || got != filepath.Join(dir, "data") {
		t.Errorf("got %q, %v", got, err)
	}
}
