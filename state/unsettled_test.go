package state

import "testing"

// TestWhatAPersonSays: only what is open is judged, and what had a code keeps it.
func TestWhatAPersonSays(t *testing.T) {
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
