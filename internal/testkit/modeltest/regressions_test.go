package modeltest_test

import "testing"

// What random scenarios have found, as they were printed.

// The interrupt came while a resource was looked at that is to be shut down
// first: it was shut down all the same.
func TestInterrupt_WhileAResourceIsLookedAt(t *testing.T) {
	t.Parallel()
	runAgain(t, Scenario{Steps: []Step{
		{Resources: []Resource{{Name: "r1", Thing: "tr1", Kind: "plain"}}, Parallelism: 1},
		{Resources: []Resource{{Name: "r1", Thing: "tr1", Kind: "proud", V: 2}}, InterruptAt: 1, Parallelism: 1},
	}})
}

// A thing that was stopped when it was planned was started by somebody before
// its apply: it was stopped, and the plan had not shown that.
func TestShutdown_NotShownInThePlan(t *testing.T) {
	t.Parallel()
	runAgain(t, Scenario{Steps: []Step{
		{Resources: []Resource{{Name: "r1", Thing: "tr1", Kind: "proud"}}},
		{Resources: []Resource{{Name: "r1", Thing: "tr1", Kind: "proud", V: 2}},
			Drift: []Drift{{Thing: "tr1", How: Halt}}, Between: []Drift{{Thing: "tr1", How: Start}}},
	}})
}

// Two that are to be shut down first, the one made of the other.
func TestShutdown_OfTwoInOrder(t *testing.T) {
	t.Parallel()
	both := func(v int) []Resource {
		return []Resource{{Name: "r1", Thing: "tr1", Kind: "proud", V: v}, {Name: "r2", Thing: "tr2", Kind: "proud", V: v,
			Uses: []Use{{Of: "r1"}}}}
	}
	runAgain(t, Scenario{Steps: []Step{{Resources: both(0)}, {Resources: both(1), Parallelism: 4}}})
}
