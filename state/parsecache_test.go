package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A process that opens a state again and again sees what is in the file, whoever has
// written that; and what it has read itself once is not read again.
func TestKept_IsWhatIsInTheFile(t *testing.T) {
	t.Parallel()
	path, kept := filepath.Join(t.TempDir(), "s.json"), &Kept{}
	open := func() *Store {
		t.Helper()
		s, err := Open(t.Context(), File(path), Options{Command: "test", Kept: kept})
		ok(t, err)
		return s
	}
	apply := func(s *Store, config string) {
		t.Helper()
		j := mustBegin(t, s, NewID())
		ok(t, j.Valid("a", entry(config)), j.Finish(StatusOK))
	}
	s := open()
	apply(s, `{"n":1}`)
	ok(t, s.Close())

	again := open()
	if got := again.Snapshot(); string(got.Resources["a"].State) != `{"n":1}` || got.Serial != 1 {
		t.Errorf("after its own run: %+v", got)
	}
	apply(again, `{"n":2}`)
	ok(t, again.Close())
	other := mustOpen(t, path)
	apply(other, `{"n":3}`)
	ok(t, other.Close())
	last := open()
	if got := last.Snapshot(); string(got.Resources["a"].State) != `{"n":3}` || got.Serial != 3 {
		t.Errorf("after the run of another: %+v", got)
	}
	changed := last.Snapshot()
	delete(changed.Resources, "a")
	ok(t, last.Close())
	if s := open(); len(s.Snapshot().Resources) != 1 {
		t.Error("who changes what he was given changes what is kept")
	} else {
		ok(t, s.Close())
	}
	data, err := os.ReadFile(path)
	ok(t, err, os.WriteFile(path, []byte(strings.Replace(string(data), `"n": 3`, `"n": `, 1)), 0o600))
	if s, err := Open(t.Context(), File(path), Options{Command: "test", Kept: kept}); err == nil {
		t.Errorf("a damaged file is opened: %+v", s.Snapshot())
	}
}
