package state

import (
	"path/filepath"
	"testing"
)

// What an apply began to make is remembered from its first action on, also when
// the process dies; VALID takes its place, and a removal takes it away.
func TestEntry_IncompleteIsRecorded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	s := mustOpen(t, path)
	j := mustBegin(t, s, "p")
	e := entry(`{"n":1}`)
	for _, addr := range []string{"dies", "fails", "ends", "goes"} {
		ok(t, j.ActionStarted(Start{Address: addr, Action: "make", Key: "k-" + addr, Incomplete: &e}))
	}
	exit := 7
	ok(t, j.ActionEnded("fails", "make", End{Exit: exit, Reason: "no room"}), j.Valid("ends", e), j.Removed("goes"))
	other := entry(`{"n":2}`)
	ok(t, j.ActionStarted(Start{Address: "ends", Action: "polish", Key: "k", Incomplete: &other}), s.Close()) // it died
	snapshot, _, err := Load(File(path))
	ok(t, err)
	for _, addr := range []string{"dies", "fails"} {
		got, known := snapshot.Resources[addr]
		if !known || !got.Incomplete() || !got.Dirty || got.State != nil || got.Type != e.Type || string(got.Config) != `{"a":"<b>","z":1}` {
			t.Errorf("%s is recorded as %+v", addr, got)
		}
		if _, reached := snapshot.Completed(addr); reached {
			t.Errorf("%s was never VALID", addr)
		}
	}
	if got, reached := snapshot.Completed("ends"); !reached || string(got.State) != `{"n":1}` || !got.Dirty {
		t.Errorf("what was VALID is recorded as %+v", got)
	}
	if _, known := snapshot.Resources["goes"]; known {
		t.Error("what was removed is still recorded")
	}
}
