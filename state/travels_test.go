package state

import (
	"testing"

	"deployster/state/content"
)

// A run neither acts on what is on its way between two states nor forgets it, and what it records keeps the mark.
func TestJournal_LeavesWhatIsBeingTransferred(t *testing.T) {
	s := openWith(t, t.TempDir()+"/state.json", nil)
	next := s.Snapshot().Clone()
	e := full()
	e.Transfer = &Transfer{ID: "1", To: &content.Other{State: "/other", Address: "a"}}
	next.Resources["a"] = e
	next.Transferred = []Transferred{{Address: "b", Transfer: Transfer{ID: "2", To: e.Transfer.To}},
		{Address: "c", Transfer: Transfer{ID: "3", From: e.Transfer.To}}, {Address: "d", Transfer: Transfer{ID: "4", To: e.Transfer.To}}}
	ok(t, s.Replace(next))
	j, err := s.Begin("plan", s.Snapshot().Lineage)
	ok(t, err)
	if j.ActionStarted(Start{Address: "a", Action: "make", Key: "k"}) == nil {
		t.Error("an action begins on it")
	}
	if j.Removed("a") == nil {
		t.Error("it is forgotten")
	}
	ok(t, j.Valid("a", full()))
	ok(t, j.Saw([]string{"b", "c"}))
	ok(t, j.Finish(StatusOK))
	now := s.Snapshot()
	if now.Resources["a"].Transfer == nil {
		t.Error("what was recorded of it has lost the mark")
	}
	if now.Came("c") != nil || now.Went("b") == nil || !now.Went("b").Seen || now.Went("d").Seen {
		t.Errorf("it remembers %+v", now.Transferred)
	}
	ok(t, s.Close())
}
