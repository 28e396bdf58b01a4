package scale_test

import "testing"

// room is how much more than was measured a part may make: what was kept in a sync.Pool is made
// again after a collection.
const room = 1.05

// atMost fails if a part made more than it may. The limits are what was measured among 500: whoever
// saves some lowers them. The counts do not depend on the machine.
func atMost(t *testing.T, made, limits map[string]cost) {
	t.Helper()
	if raceDetector {
		return // it makes objects of its own
	}
	for part, limit := range limits {
		if c := made[part]; c.objects > limit.objects*room || c.bytes > limit.bytes*room {
			t.Errorf("%s: %.1f objects and %.0f bytes a resource, and may make %.1f and %.0f, with 5 %% of room", part, c.objects, c.bytes,
				limit.objects, limit.bytes)
		}
	}
}

// TestPlan_SimpleConfigsAllocateNoMore: configs that use single attributes of states, as most do, are
// written without the evaluator.
func TestPlan_SimpleConfigsAllocateNoMore(t *testing.T) {
	const n = 500
	e := newChains(t, n, "disk-%[1]d\"\n    after = { id = resource.r%[2]d.state.id }")
	m := e.load(t, e.sources)
	prior := e.made(t, m)
	c := counted(n, func() { e.planFor(t, m, prior, true) })
	t.Logf("%.1f objects, %.0f bytes a resource", c.objects, c.bytes)
	atMost(t, map[string]cost{"plan": c}, map[string]cost{"plan": {182.1, 16_390}})
}
