package state

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"deployster/state/actions"
)

// TestUnsettled_OfOthers: what a person says of one resource changes no other.
func TestUnsettled_OfOthers(t *testing.T) {
	t.Parallel()
	one := actions.Unsettled{Actions: []actions.Attempt{{Action: "make"}}}
	s := Snapshot{Unsettled: map[string]actions.Unsettled{"a": one, "b": one}}
	if open := s.Judged("a", actions.Done).Unknown(); len(open) != 1 || open[0] != "b" {
		t.Errorf("open are %q", open)
	}
	if next := s.Judged("c", actions.Done); len(next.Unsettled) != 2 || len(s.Unknown()) != 2 {
		t.Errorf("%+v, %+v", next, s)
	}
}

// What an action led to stays unsettled while its resource is recorded as it was found, and is
// settled when that is VALID or gone.
func TestUnsettled_UntilValidOrGone(t *testing.T) {
	t.Parallel()
	valid := Entry{Type: "thing:1", Config: json.RawMessage(`{}`), State: json.RawMessage(`{}`), ValidAt: now()}
	found := valid
	found.LastSeen = &LastSeen{State: json.RawMessage(`{"v":7}`), At: now()}
	for name, c := range map[string]struct {
		fact func(j *Journal) error
		open bool
	}{
		"found otherwise": {func(j *Journal) error { return j.Valid("a", found) }, true},
		"VALID":           {func(j *Journal) error { return j.Valid("a", valid) }, false},
		"gone":            {func(j *Journal) error { return j.Removed("a") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.json")
			s := mustOpen(t, path)
			j, err := s.Begin("p", "l")
			ok(t, err)
			ok(t, j.Valid("a", valid), j.ActionStarted(Start{Address: "a", Action: "change", Key: "k"}), j.Finish(StatusError), s.Close())
			s = mustOpen(t, path)
			j, err = s.Begin("q", "l")
			ok(t, err)
			ok(t, c.fact(j), j.Finish(StatusOK), s.Close())
			snapshot := mustOpen(t, path).Snapshot()
			if open := len(snapshot.Unknown()) > 0; open != c.open || snapshot.Resources["a"].Dirty {
				t.Errorf("unsettled: %v, want %v", open, c.open)
			}
		})
	}
}
