package state

import (
	"fmt"
	"testing"
)

// Months of repairs do not push out which plans people have applied; without any, the
// oldest run goes, and the last one always stays.
func TestRemembered_KeepsRunsOfPeople(t *testing.T) {
	t.Parallel()
	var list []Applied
	for i := range 3 * MaxApplied {
		list = remembered(append(list, Applied{Plan: fmt.Sprint("p", i), Watch: i >= 5}))
	}
	if len(list) != MaxApplied || list[0].Plan != "p0" || list[4].Plan != "p4" || list[len(list)-1].Plan != "p299" || list[5].Plan != "p205" {
		t.Errorf("%d runs from %s: %+v", len(list), list[0].Plan, list[:6])
	}
	list = nil
	for i := range MaxApplied + 1 {
		list = remembered(append(list, Applied{Plan: fmt.Sprint("p", i), Watch: i == MaxApplied}))
	}
	if list[0].Plan != "p1" || !list[len(list)-1].Watch {
		t.Errorf("%d runs from %s", len(list), list[0].Plan)
	}
}
