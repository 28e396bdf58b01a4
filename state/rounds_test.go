package state

import (
	"path/filepath"
	"slices"
	"testing"
)

// An action of a later round is newer than what was seen before it: whoever has seen the earlier one is still to be notified. A
// killed run keeps its rounds.
func TestJournal_ARoundIsNewer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	s := mustOpen(t, path)
	j := mustBegin(t, s, "p1")
	ok(t, j.ActionStarted(Start{Address: "a", Action: "act", Key: "k", Incomplete: &Entry{Type: "t", Config: []byte(`{}`)}}))
	ok(t, j.ActionEnded("a", "act", End{}), j.Valid("a", entry(`{"i":1}`)))
	seen := j.Snapshot().Resources["a"].Acted
	ok(t, j.Round("p1.2"), j.ActionStarted(Start{Address: "a", Action: "act", Key: "l"}), j.ActionEnded("a", "act", End{}),
		j.Valid("a", entry(`{"i":2}`)))
	now := j.Snapshot()
	if acted := now.Resources["a"].Acted; acted <= seen || acted > now.Serial {
		t.Errorf("it has acted at %d, then at %d, and the serial is %d", seen, acted, now.Serial)
	}
	ok(t, s.Close())
	s = mustOpen(t, path)
	defer func() { ok(t, s.Close()) }()
	last, died := s.Snapshot().Died("p1")
	if !died || !slices.Equal(last.Rounds, []string{"p1.2"}) || s.Snapshot().Serial != now.Serial || s.Snapshot().Resources["a"].Acted != now.Resources["a"].Acted {
		t.Errorf("then the state has the run %+v and the serial %d", last, s.Snapshot().Serial)
	}
}
