package actions

import "testing"

// Only what is open is judged, and what had a code keeps it.
func TestUnsettled_WhatAPersonSays(t *testing.T) {
	t.Parallel()
	seven := 7
	u := Unsettled{Plan: "p", Actions: []Attempt{{Action: "make", Exit: &seven}, {Action: "polish"}, {Action: "paint", Said: Failed}}}
	for _, as := range []Verdict{Done, Failed} {
		next := u.Judged(as)
		list := next.Actions
		if *list[0].Exit != 7 || list[0].Said != "" || list[1].Said != as || (list[1].Exit != nil) != (as == Done) || list[2].Said != Failed || list[2].Exit != nil {
			t.Errorf("%s: %+v", as, list)
		}
		if as == Done && *list[1].Exit != 0 {
			t.Errorf("done with exit code %d", *list[1].Exit)
		}
		if open := next.Open(); len(open) != 0 {
			t.Errorf("%s: open are %+v", as, open)
		}
	}
	if len(u.Open()) != 1 {
		t.Errorf("what was judged was changed: %+v", u)
	}
}
