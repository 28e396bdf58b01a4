package watching

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"deployster/internal/app/watch"
	"deployster/state"
)

// publish records an output of another project, as an apply there does.
func publish(t *testing.T, path, value string) {
	t.Helper()
	s, err := state.Open(t.Context(), state.File(path), state.Options{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	s.Publishes(&state.Exports{}, nil)
	j, err := s.Begin(state.NewID(), s.Snapshot().Lineage)
	if err == nil {
		err = j.Outputs(map[string]state.Output{"v": {Value: json.RawMessage(value), Export: true}})
	}
	if err == nil {
		err = errors.Join(j.Finish(state.StatusOK), s.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A watch repairs nothing with a value that another project publishes no more: it reads all again, and repairs with the present one.
func TestRepair_NeedsWhatIsPublishedNow(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "net.json")
	publish(t, path, `"one"`)
	w := newWorld(t, fmt.Sprintf("remote_state \"net\" { url = %q }\n"+
		"resource \"a\" {\n  type   = \"thing\"\n  config = { v = remote_state.net.outputs.v }\n}\n", path))
	watched, g := w.loaded(t)
	w.set(func() { delete(w.things, "a") })
	publish(t, path, `"two"`)
	_, err := (&repairer{w: watched, look: g.look, source: g.source}).Repair(t.Context(), []string{"a"})
	if _, there := w.things["a"]; there || !errors.Is(err, watch.ErrElsewhere) || len(watched.again) != 1 {
		t.Fatalf("made: %v, %v, asked for a reload: %v", there, err, len(watched.again) == 1)
	}
	next, err := watched.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if used := next.source.Manifest.Sources().Remote["net"]; string(used.Outputs["v"].Value) != `"two"` {
		t.Errorf("it was loaded with %+v", used)
	}
}
