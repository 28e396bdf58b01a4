//go:build providers

package resource

import (
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deployster/protocol"
)

// OpenTofu has two small providers for its own tests, one of each protocol. They are built
// of its module for `make test-bridge` only. They plan the destroy too, and import nothing.
func TestLife_OfOpenTofusProviders(t *testing.T) {
	for _, name := range []string{"provider-simple", "provider-simple-v6"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			cmd := exec.Command("go", "build", "-mod=mod", "-o", path, "github.com/opentofu/opentofu/internal/"+name+"/main")
			cmd.Dir = "../../testdata/providers/opentofu"
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("the provider cannot be built: %v: %s", err, out)
			}
			p := &Providers{Path: path}
			t.Cleanup(p.Close)
			l := &life{Providers: p, t: t, kind: "simple_resource"}
			made := l.apply(l.input(`{"value":"one"}`), "create")
			if made.Status != protocol.Valid || !strings.Contains(string(made.State), `"value":"one"`) {
				t.Fatalf("after create: %+v", made)
			}
			if again := l.ask(l.input(`{"value":"one"}`)); again.Status != protocol.Valid || string(again.State) != string(made.State) {
				t.Errorf("asked again: %+v", again)
			}
			if changed := l.apply(l.input(`{"value":"two"}`), "update"); !strings.Contains(string(changed.State), `"value":"two"`) {
				t.Errorf("after update: %+v", changed)
			}
			ahead := l.input(`{"value":null}`)
			ahead.Unknown = []string{"/value"}
			if a := l.ask(ahead); a.Status != protocol.Stale || strings.Join(a.Unknown, " ") != "/value" {
				t.Errorf("with a value that is not known: %+v", a)
			}
			data := &life{Providers: p, t: t, kind: "data.simple_resource"}
			if read := data.ask(data.input(`{"value":"x"}`)); !strings.Contains(string(read.State), `"id":"static_id"`) {
				t.Errorf("as a data source: %+v", read)
			}
			gone := l.input(`{"value":"two"}`)
			gone.Intent = protocol.Absent
			if end := l.apply(gone, "delete"); end.Status != protocol.Missing {
				t.Errorf("after delete: %+v", end)
			}
			if a, err := l.State(t.Context(), l.input(`{"import":"x"}`), io.Discard); err == nil || !strings.Contains(err.Error(), `the id "x"`) {
				t.Errorf("where the import finds nothing: %+v, %v", a, err)
			}
		})
	}
}
