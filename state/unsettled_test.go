package state

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// TestUnsettled_WhatAPersonSays: only what is open is judged, and what had a code keeps it.
func TestUnsettled_WhatAPersonSays(t *testing.T) {
	t.Parallel()
	seven := 7
	s := Snapshot{Unsettled: map[string]Unsettled{
		"a": {Plan: "p", Actions: []Attempt{{Action: "make", Exit: &seven}, {Action: "polish"}, {Action: "paint", Said: Failed}}},
		"b": {Actions: []Attempt{{Action: "make"}}},
	}}
	for _, as := range []Verdict{Done, Failed} {
		next := s.Judged("a", as)
		list := next.Unsettled["a"].Actions
		if *list[0].Exit != 7 || list[0].Said != "" || list[1].Said != as || (list[1].Exit != nil) != (as == Done) || list[2].Said != Failed || list[2].Exit != nil {
			t.Errorf("%s: %+v", as, list)
		}
		if as == Done && *list[1].Exit != 0 {
			t.Errorf("done with exit code %d", *list[1].Exit)
		}
		if open := next.Unknown(); len(open) != 1 || open[0] != "b" {
			t.Errorf("%s: open are %q", as, open)
		}
	}
	if len(s.Unknown()) != 2 || len(s.Unsettled["a"].Open()) != 1 {
		t.Errorf("what was judged was changed: %+v", s)
	}
	if next := s.Judged("c", Done); len(next.Unsettled) != 2 {
		t.Errorf("%+v", next)
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
