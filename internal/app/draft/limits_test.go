package draft

import (
	"testing"

	"deployster/state"
)

// Where each fact takes an answer of a store, more is in flight, unless somebody says how much.
func TestApplyLimits_AreHigherForAStore(t *testing.T) {
	t.Parallel()
	file, store := state.File("state.json"), &state.Remote{URL: "s3://state/shop"}
	for name, c := range map[string]struct {
		parallelism        int
		place              state.Place
		resources, workers int
	}{
		"a file":                            {0, file, 10, 80},
		"a store":                           {0, store, 10, 240},
		"a store, and a number of a person": {7, store, 7, 0},
	} {
		if r, w := ApplyLimits(c.parallelism, c.place); r != c.resources || w != c.workers {
			t.Errorf("%s: %d and %d, want %d and %d", name, r, w, c.resources, c.workers)
		}
	}
}
