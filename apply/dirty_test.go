package apply_test

import (
	"testing"

	"deployster/state"
)

// What is recorded of a resource is marked from the moment that an action is
// started on it until it is seen to be VALID: also when what was reached is
// just what was recorded before.
func TestEntry_DirtyUntilSeenToBeValid(t *testing.T) {
	e := newEngine(t.TempDir())
	dirty := func() bool {
		s, _, err := state.Load(state.File(e.statePath()))
		if err != nil {
			t.Fatal(err)
		}
		return s.Resources["a"].Dirty
	}
	e.do(t, thing("a", "v", "1"))
	e.world.Set("a", `{"v":7}`)
	e.world.Fail("a", true)
	e.do(t, thing("a", "v", "1"))
	if !dirty() {
		t.Error("an action failed, and the record is used as before")
	}
	e.world.Fail("a", false)
	e.do(t, thing("a", "v", "1"))
	if dirty() {
		t.Error("it is VALID again, and still marked")
	}
	e.world.Set("a", `{"v":7}`)
	e.do(t, thing("a", "v", "1")) // ends just as it was recorded
	if dirty() {
		t.Error("it was mended, and is marked")
	}
}
