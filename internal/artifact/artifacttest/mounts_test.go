package artifacttest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"deployster/internal/artifact"
	"deployster/internal/runner"
)

func TestMounts_FetchWhatIsMounted(t *testing.T) {
	w, source := NewWorld(), json.RawMessage(`{}`)
	w.AddImage("line", artifact.Artifacts2)
	one := artifact.Versioned{Space: "main", Version: artifact.Version{"ref": "1"}}
	w.Change(string(source), func(l *Line) {
		l.Spaces["main"] = []artifact.Versioned{one}
		l.Files[one.Version.Key()] = map[string]string{"dist/index": "x"}
	})
	target := artifact.Target{Address: "artifact.a", Reference: "line"}
	info, err := w.Info(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	m := &artifact.Mounts{Store: NewStore(t.TempDir(), w)}
	key, err := m.Know(artifact.Order{Name: "a", Target: target, Recipe: artifact.NewRecipe(info, runner.Settings{}, source, nil, one)})
	if err != nil {
		t.Fatal(err)
	}
	if w.TakeLog(); len(w.TakeLog()) > 0 {
		t.Error("something was fetched before it was mounted")
	}
	path, err := m.Path(t.Context(), key, "dist/index")
	if b, rerr := os.ReadFile(path); string(b) != "x" || err != nil || rerr != nil {
		t.Errorf("%q, %v, %v", b, err, rerr)
	}
	if path, err := m.Path(t.Context(), key, "none"); err == nil || !strings.Contains(err.Error(), "artifact.a, version 1") {
		t.Errorf("%q, %v", path, err)
	}
	if path, err := m.Path(t.Context(), "other", ""); err == nil {
		t.Errorf("a key that nobody knows is at %q", path)
	}
}
