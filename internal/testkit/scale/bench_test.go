package scale_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"deployster/config"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/plan/planfile"
	"deployster/state"
)

// at measures one part of the engine at two sizes, so that what is not linear
// is seen at once: ten times the resources are to take ten times as much. The
// figure ns/resource says it directly.
func at(b *testing.B, bench func(b *testing.B, n int)) {
	for _, n := range sizes(1_000, 10_000) {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			bench(b, n)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/resource")
		})
	}
}

// sizes are the numbers to measure with, or one small number for -short, which checks that
// each benchmark still runs.
func sizes(n ...int) []int {
	if testing.Short() {
		return []int{2 * perChain}
	}
	return n
}

func BenchmarkLoad(b *testing.B) {
	at(b, func(b *testing.B, n int) {
		e := newEngine(b, n)
		for b.Loop() {
			e.load(b, e.sources)
		}
	})
}

func BenchmarkPlanNoChange(b *testing.B) {
	at(b, func(b *testing.B, n int) {
		e := newEngine(b, n)
		m := e.load(b, e.sources)
		prior := e.made(b, m)
		for b.Loop() {
			if p := e.plan(b, m, prior); p.HasChanges() {
				b.Fatal(p.Summary)
			}
		}
	})
}

func BenchmarkPlanBelieved(b *testing.B) {
	at(b, func(b *testing.B, n int) {
		e := newEngine(b, n)
		m := e.load(b, e.sources)
		prior := e.made(b, m)
		for b.Loop() {
			p, diags := plan.Build(context.Background(), m, prior, e.client(), plan.Options{Version: "1", Workspace: e.dir, Parallelism: 10,
				Now: time.Now(), Selection: plan.Selection{NoRefresh: true}})
			if diags.HasErrors() || p.HasChanges() {
				b.Fatalf("%.2000s", diags.Error())
			}
		}
	})
}

// BenchmarkPlanRepair plans what a watch repairs: one thing that is gone, and the nine
// that depend on it.
func BenchmarkPlanRepair(b *testing.B) {
	at(b, func(b *testing.B, n int) {
		e := newEngine(b, n)
		m := e.load(b, e.sources)
		prior := e.made(b, m)
		delete(e.world.there, "disk-0")
		for b.Loop() {
			if p := e.repair(b, m, prior, chain(), true); len(p.Resources) != perChain || p.Resources["r0"].Change() != plan.Create {
				b.Fatal(p.Summary)
			}
		}
	})
}

// chain lists the resources of the first chain.
func chain() (addresses []string) {
	for i := range perChain {
		addresses = append(addresses, fmt.Sprintf("r%d", i))
	}
	return addresses
}

// repair plans what a watch repairs when r0 is gone: the targets.
func (e *engine) repair(tb testing.TB, m *config.Manifest, prior state.Snapshot, targets []string, apart bool) *plan.Plan {
	tb.Helper()
	p, diags := plan.Build(context.Background(), m, prior, e.client(), plan.Options{Version: "1", Workspace: e.dir, Parallelism: 10,
		Now: time.Unix(0, 0), Selection: plan.Selection{NoRefresh: true, Targets: targets, Apart: apart}, Doubt: []string{"r0"}})
	if diags.HasErrors() {
		tb.Fatalf("%.2000s", diags.Error())
	}
	return p
}

// What a watch plans apart from all else is what it would plan with it: also where things
// have an identity, resources have times and blocks of their own, one that is planned was
// moved, or is another object now, and what is left out was moved, is another object now, is
// new, or is declared no more.
func TestPlanRepair_ApartIsTheSame(t *testing.T) {
	t.Parallel()
	for _, identity := range []bool{false, true} {
		e := newEngine(t, 100)
		e.world.identity = identity
		first := &e.sources.Manifests[0].Bytes
		*first = bytes.Replace(*first, []byte("resource \"r3\" {\n"), []byte("resource \"r3\" {\n  depends_on = [resource.r30]\n"+
			"  timeouts {\n    action = \"7s\"\n  }\n  watch {\n    poll = \"9s\"\n  }\n  lifecycle {\n    prevent_destroy = true\n  }\n"), 1)
		prior := e.made(t, e.load(t, e.sources))
		edit := func(was, is string) {
			if !bytes.Contains(*first, []byte(was)) {
				t.Fatalf("no manifest has %q", was)
			}
			*first = bytes.ReplaceAll(*first, []byte(was), []byte(is))
		}
		edit("resource \"r40\"", "moved {\n  from = resource.r40\n  to   = resource.moved\n}\nresource \"moved\"") // as its block says
		edit("resource.r40", "resource.moved")
		edit("from = resource.moved", "from = resource.r40")
		edit("resource \"r5\"", "moved {\n  from = resource.r5\n  to   = resource.five\n}\nresource \"five\"")
		edit("resource.r5.", "resource.five.")
		edit("\"disk-7\"", "\"disk-7x\"")
		edit("\"disk-50\"", "\"disk-51x\"")              // another thing
		edit("resource \"r69\"", "resource \"renamed\"") // by its identity the same
		edit("resource \"r79\" {\n", "resource \"r79\" {\n  timeouts {\n    action = \"3s\"\n  }\n")
		m := e.load(t, e.sources)
		delete(e.world.there, "disk-0")
		delete(e.world.there, "disk-60") // drifted too, and is not asked for
		targets := chain()
		targets[5] = "five"
		var plans []string
		for _, apart := range []bool{false, true} {
			p := e.repair(t, m, prior, targets, apart)
			p.ID = ""
			for addr := range p.Entries { // of what is left out nothing is pinned
				if p.Resources[addr] == nil {
					delete(p.Entries, addr)
				}
			}
			text, err := json.Marshal(p)
			if err != nil || p.Resources["r0"].Change() != plan.Create || time.Duration(p.Resources["r3"].Timeouts.Action) != 7*time.Second {
				t.Fatal(len(p.Resources), err)
			}
			plans = append(plans, string(text))
		}
		if plans[0] != plans[1] {
			t.Errorf("identity %v, with all else:\n%s\napart:\n%s", identity, plans[0], plans[1])
		}
	}
}

func BenchmarkPlanCreate(b *testing.B) {
	at(b, func(b *testing.B, n int) {
		e := newEngine(b, n)
		m := e.load(b, e.sources)
		for b.Loop() {
			e.plan(b, m, state.Snapshot{})
		}
	})
}

// BenchmarkApplyCreate has an action for each resource, and the journal on the
// disk.
func BenchmarkApplyCreate(b *testing.B) {
	at(b, func(b *testing.B, n int) {
		e := newEngine(b, n)
		m := e.load(b, e.sources)
		p := e.plan(b, m, state.Snapshot{})
		for b.Loop() {
			b.StopTimer()
			e.dir, e.world = b.TempDir(), newWorld()
			e.place = state.File(e.statePath())
			store := e.open(b)
			b.StartTimer()
			journal, _ := e.run(b, p, m, store)
			finish(b, journal, store)
		}
	})
}

// BenchmarkApplyNoChange is what an apply costs that has nothing to do.
func BenchmarkApplyNoChange(b *testing.B) {
	at(b, func(b *testing.B, n int) {
		e := newEngine(b, n)
		m := e.load(b, e.sources)
		p := e.plan(b, m, e.made(b, m))
		for b.Loop() {
			store := e.open(b)
			journal, _ := e.run(b, p, m, store)
			finish(b, journal, store)
		}
	})
}

// BenchmarkFold opens a state whose journal was left behind.
func BenchmarkFold(b *testing.B) {
	at(b, func(b *testing.B, n int) {
		e := newEngine(b, n)
		m := e.load(b, e.sources)
		store := e.open(b)
		e.run(b, e.plan(b, m, store.Snapshot()), m, store)
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			s, r, err := state.Load(state.File(e.statePath()))
			if err != nil || r == nil || len(s.Resources) != n {
				b.Fatal(err, r)
			}
		}
	})
}

// BenchmarkReadState opens a state file.
func BenchmarkReadState(b *testing.B) {
	at(b, func(b *testing.B, n int) {
		e := newEngine(b, n)
		e.made(b, e.load(b, e.sources))
		for b.Loop() {
			held, err := state.ReadShared(context.Background(), state.File(e.statePath()), state.Options{})
			if err != nil || len(held.Snapshot.Resources) != n {
				b.Fatal(err)
			}
			if err := held.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkWritePlan(b *testing.B) {
	at(b, func(b *testing.B, n int) {
		e := newEngine(b, n)
		p := e.plan(b, e.load(b, e.sources), state.Snapshot{})
		for b.Loop() {
			var file bytes.Buffer
			if err := planfile.Write(&file, p); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(file.Len())/float64(n), "bytes/resource")
		}
	})
}

func BenchmarkReadPlan(b *testing.B) {
	at(b, func(b *testing.B, n int) {
		e := newEngine(b, n)
		var file bytes.Buffer
		if err := planfile.Write(&file, e.plan(b, e.load(b, e.sources), state.Snapshot{})); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := planfile.Read(bytes.NewReader(file.Bytes()), int64(file.Len())); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkShow renders a plan that creates everything: folded, and in lines.
func BenchmarkShow(b *testing.B) {
	for name, compact := range map[string]bool{"folded": false, "compact": true} {
		b.Run(name, func(b *testing.B) {
			at(b, func(b *testing.B, n int) {
				e := newEngine(b, n)
				p := e.plan(b, e.load(b, e.sources), state.Snapshot{})
				for b.Loop() {
					if len(render.Plan(p, render.Options{Compact: compact, Hide: func(s string) string { return s }})) == 0 {
						b.Fatal("nothing is shown")
					}
				}
			})
		})
	}
}

func BenchmarkReport(b *testing.B) {
	at(b, func(b *testing.B, n int) {
		e := newEngine(b, n)
		m := e.load(b, e.sources)
		p := e.plan(b, m, state.Snapshot{})
		store := e.open(b)
		journal, report := e.run(b, p, m, store)
		finish(b, journal, store)
		for b.Loop() {
			if len(render.Report(p, report, nil, render.Options{Hide: func(s string) string { return s }})) == 0 {
				b.Fatal("nothing is shown")
			}
		}
	})
}
