package scale_test

import (
	"bytes"
	"runtime"
	"testing"

	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/plan/planfile"
	"deployster/state"
)

// grows is how much more a resource may cost among eight times as many. What
// grows with the logarithm, and what is made once, leave it well below that;
// anything that looks at all resources for each of them is far beyond.
const grows = 1.3

// cost is what a part of the engine made, for each resource.
type cost struct{ objects, bytes float64 }

// counted is the cost of a part: allocations do not depend on how busy the
// machine is. Buffers that were kept from before are given up first: whether they
// still are there would depend on when the collector ran.
func counted(n int, part func()) cost {
	runtime.GC()
	runtime.GC() // what a sync.Pool has survives one
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	part()
	runtime.ReadMemStats(&after)
	return cost{float64(after.Mallocs-before.Mallocs) / float64(n), float64(after.TotalAlloc-before.TotalAlloc) / float64(n)}
}

// measure takes n resources through everything, and returns what each part cost.
func measure(t *testing.T, n int) map[string]cost {
	t.Helper()
	return measureEngine(t, newEngine(t, n), n)
}

func measureEngine(t *testing.T, e *engine, n int) map[string]cost {
	t.Helper()
	costs := map[string]cost{}
	run := func(name string, part func()) { costs[name] = counted(n, part) }
	show := render.Options{Hide: func(s string) string { return s }}

	m := e.load(t, e.sources)
	run("load", func() { m = e.load(t, e.sources) })
	var p *plan.Plan
	run("plan that creates", func() { p = e.plan(t, m, state.Snapshot{}) })
	var file bytes.Buffer
	run("plan file", func() {
		if err := planfile.Write(&file, p); err != nil {
			t.Fatal(err)
		}
		read, err := planfile.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		p = read
	})
	run("shown", func() { render.Plan(p, show) })
	run("shown in lines", func() { render.Plan(p, render.Options{Compact: true, Hide: show.Hide}) })
	run("digest", func() {
		if _, err := planfile.Digest(p); err != nil {
			t.Fatal(err)
		}
	})
	run("apply that creates", func() {
		store := e.open(t)
		journal, report := e.run(t, p, m, store)
		finish(t, journal, store)
		render.Report(p, report, nil, show)
	})
	var prior state.Snapshot
	run("state read", func() {
		var err error
		if prior, _, err = state.Load(state.File(e.statePath())); err != nil || len(prior.Resources) != n {
			t.Fatal(err)
		}
	})
	run("plan that is only shown", func() { e.planFor(t, m, prior, true) })
	run("plan without changes", func() { p = e.plan(t, m, prior) })
	if p.HasChanges() {
		t.Fatal(p.Summary)
	}
	run("apply without changes", func() {
		store := e.open(t)
		journal, _ := e.run(t, p, m, store)
		finish(t, journal, store)
	})
	run("journal folded", func() {
		store := e.open(t)
		e.run(t, p, m, store)
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		if _, r, err := state.Load(state.File(e.statePath())); err != nil || r == nil {
			t.Fatal(err)
		}
	})
	return costs
}

func TestEngine_CostIsLinear(t *testing.T) {
	measure(t, 10) // what is made once is made by now
	few := measure(t, 500)
	for part, c := range few {
		t.Logf("%-22s %6.1f objects, %7.0f bytes a resource among 500", part, c.objects, c.bytes)
	}
	linear(t, few, measure(t, 4000))
	atMost(t, few, map[string]cost{
		"load": {166.2, 21_360}, "plan that creates": {389.4, 34_420}, "plan file": {47.9, 10_030}, "shown": {96.1, 6000},
		"shown in lines": {15.7, 755}, "digest": {13.5, 6800}, "apply that creates": {448.7, 44_810}, "state read": {10.5, 3890},
		"plan without changes": {274.8, 25_400}, "apply without changes": {83, 17_160}, "journal folded": {83.7, 18_610},
		"plan that is only shown": {258.6, 22_990},
	})
}

// TestEngine_LateIdentitiesAreLinear: each resource whose identity becomes known during the
// apply is compared with those that may be the same thing, and with no others.
func TestEngine_LateIdentitiesAreLinear(t *testing.T) {
	measureEngine(t, newLateEngine(t, 10), 10)
	linear(t, measureEngine(t, newLateEngine(t, 500), 500), measureEngine(t, newLateEngine(t, 4000), 4000))
}

// TestEngine_AdoptionIsLinear: where the state is lost, each identity that follows from
// another resource is learned while the plan is made.
func TestEngine_AdoptionIsLinear(t *testing.T) {
	adopt := func(n int) map[string]cost {
		e := newLateEngine(t, n)
		m := e.load(t, e.sources)
		e.made(t, m)
		return map[string]cost{"plan that adopts": counted(n, func() {
			if p := e.plan(t, m, state.Snapshot{}); p.Summary.Adopt != n {
				t.Fatal(p.Summary)
			}
		})}
	}
	adopt(10) // what is made once is made by now
	linear(t, adopt(500), adopt(4000))
}

// linear fails if the cost of a resource among 4000 is not about that of one among 500.
func linear(t *testing.T, few, many map[string]cost) {
	t.Helper()
	for part, c := range many {
		objects, bytes := c.objects/few[part].objects, c.bytes/few[part].bytes
		t.Logf("%-22s %6.0f objects, %7.0f bytes a resource; %.2f and %.2f times those among 500", part, c.objects, c.bytes, objects, bytes)
		if objects > grows || bytes > grows {
			t.Errorf("%s: a resource among 4000 costs %.2f times the objects and %.2f times the bytes of one among 500: something looks at all of them for each", part, objects, bytes)
		}
	}
}

// TestEngine_SchemasAreReadOnce: the schemas of large providers have hundreds of
// properties, and are asked about for each resource: what that costs more is less than an object a property.
func TestEngine_SchemasAreReadOnce(t *testing.T) {
	const n = 500
	wide, narrow := newEngine(t, n), newEngine(t, n)
	wide.world.identity, narrow.world.identity, wide.world.wide = true, true, 300
	measure(t, 10) // what is made once is made by now
	usual := measureEngine(t, narrow, n)
	for part, c := range measureEngine(t, wide, n) {
		t.Logf("%-22s %6.0f objects, %7.0f bytes a resource, with narrow schemas %6.0f and %7.0f", part, c.objects, c.bytes, usual[part].objects, usual[part].bytes)
		if c.objects > usual[part].objects+200 {
			t.Errorf("%s: %.0f objects a resource where a schema has 300 properties, %.0f where it has three", part, c.objects, usual[part].objects)
		}
	}
}
