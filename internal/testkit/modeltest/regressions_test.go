package modeltest_test

import "testing"

// What random scenarios have found, as they were printed.

// The interrupt came while a resource was looked at that is to be shut down
// first: it was shut down all the same.
func TestInterrupt_WhileAResourceIsRead(t *testing.T) {
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

// Somebody has given a thing a secret that the manifest knows: its removal does not show it.
func TestRemoval_HidesWhatTheManifestHides(t *testing.T) {
	t.Parallel()
	runAgain(t, Scenario{Steps: []Step{
		{Resources: []Resource{{Name: "r1", Thing: "tr1", Kind: "plain", V: 1}}, Parallelism: 1},
		{Resources: []Resource{{Name: "r1", Thing: "tr1", Kind: "plain", V: 2, Secret: true, ReadOnly: true, Ignore: true}},
			Drift: []Drift{{Thing: "tr1", How: Restore}}, Parallelism: 1},
		{Parallelism: 1},
	}})
}

// A thing was made anew by somebody after the plan, and is asked again after removals.
func TestRemoval_OfInstancesDuringOtherChanges(t *testing.T) {
	t.Parallel()
	runAgain(t, Scenario{Steps: []Step{
		{Resources: []Resource{{Name: "r1", Thing: "tr1", Kind: "asker", V: 2, Count: 3}}, Parallelism: 1},
		{Resources: []Resource{{Name: "r1", Thing: "tr1", Kind: "asker", V: 2}}, Between: []Drift{{Thing: "tr1", How: Restore}}, Parallelism: 1},
	}})
}

// A thing vanished after the plan: the removal of its kind is taken for the reason, and is done.
func TestRemoval_OfInstancesThatVanish(t *testing.T) {
	t.Parallel()
	runAgain(t, Scenario{Steps: []Step{
		{Resources: []Resource{{Name: "r1", Thing: "tr1", Kind: "steps", Count: 3}}, Parallelism: 1},
		{Resources: []Resource{{Name: "r1", Thing: "tr1", Kind: "steps"}}, Between: []Drift{{Thing: "tr1", How: Vanish}}, Parallelism: 1},
	}})
}

// Two things drifted, the one made of the other: with the other as it was found, the config of
// the first was not the approved one. It was tried again ten minutes later, and not when the
// other was repaired.
func TestWatch_RepairsWhatIsMadeOfWhatItRepairs(t *testing.T) {
	t.Parallel()
	declared := []Resource{{Name: "r1", Thing: "tr1", Kind: "proud", V: 1, Keys: []string{"x"}},
		{Name: "r4", Thing: "tr4", Kind: "proud", V: 2, Uses: []Use{{Of: "r1"}}}}
	runAgain(t, Scenario{Steps: []Step{
		{Resources: declared, Parallelism: 1},
		{Command: Watch, Resources: declared, Drift: []Drift{{Thing: "tr1-x", How: Spoil}}, Between: []Drift{{Thing: "tr4", How: Spoil}},
			CrashAt: 4, KeepGoing: true, Parallelism: 1},
	}})
}

// What the manifest has changed comes between what is refused and what drifted with its
// dependants: nothing was repaired, because a dependant could not be planned.
func TestWatch_RepairsDespiteRefusals(t *testing.T) {
	t.Parallel()
	applied := []Resource{{Name: "r1", Thing: "tr1", Kind: "old", V: 2}, {Name: "r2", Thing: "tr2", Kind: "plain", V: 1},
		{Name: "r3", Thing: "tr3", Kind: "old", V: 2}, {Name: "r6", Thing: "tr6", Kind: "still", Count: 3, Uses: []Use{{Of: "r1", ID: true}}}}
	edited := []Resource{{Name: "r2", Thing: "tr2", Kind: "asker", V: 1}, {Name: "r1", Thing: "tr1", Kind: "old", V: 2, Uses: []Use{{Of: "r2", ID: true}}},
		{Name: "r3", Thing: "tr3", Kind: "old", V: 2},
		{Name: "r6", Thing: "tr6", Kind: "still", Count: 3, Uses: []Use{{Of: "r1", ID: true}}, After: []string{"r3"}}}
	runAgain(t, Scenario{Steps: []Step{
		{Resources: applied, Parallelism: 1},
		{Command: Watch, Resources: edited, Drift: []Drift{{Thing: "tr3", How: Restore}}, Parallelism: 1},
	}})
}

// The same, where the first repair of the other had no outcome.
func TestWatch_RepairsWhatIsMadeOfWhatIsRightAgain(t *testing.T) {
	t.Parallel()
	declared := []Resource{{Name: "r3", Thing: "tr3", Kind: "proud", V: 1, Count: 2},
		{Name: "r5", Thing: "tr5", Kind: "proud", V: 2, Uses: []Use{{Of: "r3", At: 1, Alias: true}}}}
	runAgain(t, Scenario{Steps: []Step{
		{Resources: declared, Parallelism: 1},
		{Command: Watch, Resources: declared, Faults: []Fault{{Thing: "tr3-1", Nth: 1, How: "lost after"}}, Parallelism: 1,
			Drift: []Drift{{Thing: "tr5", How: Spoil}, {Thing: "tr4", How: Spoil}, {Thing: "tr3-1", How: Spoil}}},
	}})
}

// Two things changed before an apply: one that was to be removed was gone, another was not
// right any more. Its removal was said to have taken the other with it.
func TestRemoval_OfNothingTakesNothing(t *testing.T) {
	t.Parallel()
	runAgain(t, Scenario{Steps: []Step{
		{Resources: []Resource{{Name: "r4", Thing: "tr4", Kind: "steps", V: 1}, {Name: "r3", Thing: "tr3", Kind: "plain", V: 2, Secret: true}},
			Parallelism: 1},
		{Resources: []Resource{{Name: "r3", Thing: "tr3", Kind: "steps", V: 2, Secret: true}}, Parallelism: 1,
			Between: []Drift{{Thing: "tr4", How: Vanish}, {Thing: "tr3", How: Spoil}}},
	}})
}

// Somebody has brought a thing to what the manifest says now, which nobody has applied: a
// watch does not record that, and leaves what depends on it.
func TestWatch_RecordsNoEditOfTheManifest(t *testing.T) {
	t.Parallel()
	declared := func(v int) []Resource {
		return []Resource{{Name: "r1", Thing: "tr1", Kind: "plain", V: v}, {Name: "r2", Thing: "tr2", Kind: "plain", V: 1, After: []string{"r1"}}}
	}
	runAgain(t, Scenario{Steps: []Step{
		{Resources: declared(1), Parallelism: 1},
		{Command: Watch, Resources: declared(11), Parallelism: 1, Drift: []Drift{{Thing: "tr1", How: Spoil}, {Thing: "tr2", How: Spoil}}},
	}})
}

// A resource that was begun was asked after a removal, and then once more for its own step,
// which failed: that it was right was not recorded.
func TestAdopted_IsQueriedOnceAfterARemoval(t *testing.T) {
	t.Parallel()
	r1 := Resource{Name: "r1", Thing: "tr1", Kind: "asker", V: 1}
	runAgain(t, Scenario{Steps: []Step{
		{Resources: []Resource{{Name: "r4", Thing: "tr4", Kind: "asker", V: 2}, r1}, Parallelism: 8,
			Faults: []Fault{{Thing: "tr1", Step: "state", Nth: 3, How: Timeout}}},
		{Command: "save", Resources: []Resource{r1}, Parallelism: 1},
		{Command: "late", Faults: []Fault{{Thing: "tr1", Step: "state", Nth: 2, How: Exit}}, Parallelism: 1},
	}})
}
