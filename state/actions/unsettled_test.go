package actions

import "testing"

// Only what is open is judged, and what had a code keeps it.
func TestUnsettled_WhatAPersonRecords(t *testing.T) {
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

// What an earlier plan did stays known while what a later one begins is never started, and
// is answered by what is.
func TestUnsettled_WhatWasBefore(t *testing.T) {
	t.Parallel()
	one := 1
	before := Unsettled{}.Started("p", By{}, Attempt{Action: "make", Key: "1"})
	next := before.Started("q", By{}, Attempt{Action: "make", Key: "2"})
	again := next.Started("q", By{}, Attempt{Action: "paint", Key: "3"}).Ended("paint", "3", nil, true)
	never, _ := next.Settled("2", nil, true)
	failed, _ := before.Settled("1", &one, true)
	for name, c := range map[string]struct {
		u    Unsettled
		plan string
		open int
	}{
		"never started":         {next.Ended("make", "2", nil, true), "p", 1},
		"none of two started":   {again.Ended("make", "2", nil, true), "p", 1},
		"seen later":            {never, "p", 1},
		"started":               {next.Ended("make", "2", &one, true), "q", 0},
		"started, another not":  {again.Ended("make", "2", &one, true), "q", 0},
		"it had failed":         {failed.Started("q", By{}, Attempt{Action: "make", Key: "2"}).Ended("make", "2", nil, true), "p", 0},
		"never started, thrice": {next.Started("r", By{}, Attempt{Action: "make", Key: "4"}).Ended("make", "4", nil, true), "q", 1},
	} {
		if left, any := c.u.Left(); !any || left.Plan != c.plan || len(left.Open()) != c.open {
			t.Errorf("%s: left is %v, %+v", name, any, left)
		}
	}
	if left, any := (Unsettled{}.Started("p", By{}, Attempt{Action: "make"}).Ended("make", "", nil, true)).Left(); any {
		t.Errorf("nothing was before, and left is %+v", left)
	}
}
