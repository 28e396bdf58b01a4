package apply_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"deployster/apply"
	"deployster/plan"
	"deployster/protocol"
	"deployster/state"
)

// network is a random manifest: things that take values from each other's
// states. Edges lead from higher to lower numbers, so there is no circle.
type network struct {
	value []int
	uses  [][]int
	gone  []bool // not declared
}

func drawNetwork(t *rapid.T, size int) network {
	n := network{value: make([]int, size), uses: make([][]int, size), gone: make([]bool, size)}
	for i := range size {
		n.value[i] = rapid.IntRange(0, 2).Draw(t, "value")
		n.gone[i] = rapid.IntRange(0, 4).Draw(t, "gone") == 0
		for j := range i {
			if !n.gone[j] && rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
				n.uses[i] = append(n.uses[i], j)
			}
		}
	}
	return n
}

func (n network) source() string {
	var b strings.Builder
	for i := range n.value {
		if n.gone[i] {
			continue
		}
		attrs := []string{"v", fmt.Sprint(n.value[i])}
		for _, j := range n.uses[i] {
			attrs = append(attrs, fmt.Sprintf("u%d", j), fmt.Sprintf("resource.t%d.state.v", j))
		}
		b.WriteString(thing(fmt.Sprintf("t%d", i), attrs...))
	}
	return b.String()
}

// wanted is what the world must hold in the end.
func (n network) wanted() map[string]string {
	things := map[string]string{}
	for i := range n.value {
		if n.gone[i] {
			continue
		}
		config := map[string]int{"v": n.value[i]}
		for _, j := range n.uses[i] {
			config[fmt.Sprintf("u%d", j)] = n.value[j]
		}
		text, _ := json.Marshal(config)
		things[fmt.Sprintf("t%d", i)] = string(text)
	}
	return things
}

// Whatever is declared, whatever is there, and whatever fails: planning changes
// nothing; apply does what was shown and nothing else; nothing is touched before
// what it depends on is right; the state file holds what was last seen to be
// right; and once nothing fails any more, the world is as declared.
func TestAnyManifestAgainstAnyWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "deployster-property")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		e := newEngine(dir)
		size := rapid.IntRange(1, 7).Draw(t, "size")
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			n := drawNetwork(t, size)
			disturb(t, e, size)
			round(t, e, n)
		}
		for i := range size {
			e.world.Fail(fmt.Sprintf("t%d", i), false)
			e.world.Stuck(fmt.Sprintf("t%d", i), false)
		}
		settle(t, e, drawNetwork(t, size))
	})
}

// disturb changes the world behind the tool's back, and breaks things.
func disturb(t *rapid.T, e *engine, size int) {
	for i := range size {
		name := fmt.Sprintf("t%d", i)
		switch rapid.IntRange(0, 5).Draw(t, "disturb") {
		case 0:
			e.world.Set(name, "")
		case 1:
			e.world.Set(name, `{"v":9}`)
		}
		e.world.Fail(name, rapid.IntRange(0, 9).Draw(t, "fail") == 0)
		e.world.Stuck(name, rapid.IntRange(0, 9).Draw(t, "stuck") == 0)
	}
}

// round plans and applies once, and checks what must hold however it ends.
func round(t *rapid.T, e *engine, n network) {
	before := e.world.Things()
	p, err := e.plan(n.source())
	if err != nil {
		t.Fatalf("plan: %v\n%s", err, n.source())
	}
	if done := e.world.TakeLog(); len(done) > 0 || !reflect.DeepEqual(before, e.world.Things()) {
		t.Fatalf("planning changed the world: %v", done)
	}
	wanted := n.wanted()
	var early []string
	e.world.Guard(func(things map[string]string, name string) {
		if step := p.Resources[name]; step.Change == plan.Destroy {
			return
		}
		for _, from := range p.Before()[name] {
			if things[from] != wanted[from] {
				early = append(early, name+" before "+from)
			}
		}
	})
	interfere(t, e, p, wanted)
	e.opts.KeepGoing = rapid.Bool().Draw(t, "keep going")
	report, err := e.apply(context.Background(), p)
	if err != nil {
		t.Fatalf("apply: %v", err)
	}
	if len(early) > 0 {
		t.Fatalf("too early: %v", early)
	}
	checkDone(t, p, report, e.world.TakeLog())
	checkRecorded(t, e, p, wanted, report)
}

// interfere changes, between plan and apply, things that are to be acted upon:
// the plan may have become wrong about them, or what it wants may be so already.
func interfere(t *rapid.T, e *engine, p *plan.Plan, wanted map[string]string) {
	for _, addr := range p.Order() {
		if p.Resources[addr].Change == plan.Valid {
			continue
		}
		switch rapid.IntRange(0, 9).Draw(t, "interfere") {
		case 0:
			e.world.Set(addr, "")
		case 1:
			e.world.Set(addr, `{"v":7}`)
		case 2:
			e.world.Set(addr, wanted[addr])
		}
	}
}

// checkDone compares what ran with what was shown and with what is reported.
func checkDone(t *rapid.T, p *plan.Plan, report *apply.Report, done []string) {
	var completed []string
	for addr, res := range report.Resources {
		for _, action := range res.Completed {
			completed = append(completed, action+" "+addr)
			step := p.Resources[addr]
			if !step.Flexible() && !slices.ContainsFunc(step.Actions, func(a protocol.Action) bool { return a.Name == action }) {
				t.Fatalf("%s of %s ran and was not shown", action, addr)
			}
			if step.Change == plan.Valid && !step.MayChange {
				t.Fatalf("%s of %s ran, which was to stay as it is", action, addr)
			}
		}
		if got := len(res.Completed) + len(res.NotAttempted); res.Failed == "" && res.Status != apply.Skipped && got != len(res.Planned) {
			t.Fatalf("%s: planned %v, completed %v, not attempted %v", addr, res.Planned, res.Completed, res.NotAttempted)
		}
	}
	slices.Sort(completed)
	slices.Sort(done)
	if !slices.Equal(completed, done) {
		t.Fatalf("done %v, reported %v", done, completed)
	}
}

// checkRecorded compares the state file with the world.
func checkRecorded(t *rapid.T, e *engine, p *plan.Plan, wanted map[string]string, report *apply.Report) {
	snapshot, recovery, err := state.Load(e.statePath())
	if err != nil || recovery != nil {
		t.Fatalf("state: %v, %v", err, recovery)
	}
	things := e.world.Things()
	for addr, res := range report.Resources {
		entry, known := snapshot.Resources[addr]
		switch res.Status {
		case apply.OK, apply.Unchanged, apply.Skipped:
			want, declared := wanted[addr]
			if declared != known || declared && (string(entry.State) != want || things[addr] != want) {
				t.Fatalf("%s is %s; state file %v %s, world %s, wanted %s", addr, res.Status, known, entry.State, things[addr], want)
			}
		}
	}
	if report.Status == apply.OK {
		checkWorld(t, p, things, wanted)
	}
}

// checkWorld compares the world with what was wanted of it. Things that neither
// the manifest nor the state file knows are nobody's.
func checkWorld(t *rapid.T, p *plan.Plan, things, wanted map[string]string) {
	for addr, step := range p.Resources {
		if step.Change != plan.Forget && things[addr] != wanted[addr] {
			t.Fatalf("%s: the world holds %s, wanted %s", addr, things[addr], wanted[addr])
		}
	}
}

// settle applies until nothing is left to do: once is enough.
func settle(t *rapid.T, e *engine, n network) {
	e.world.Guard(nil)
	if report := e.do(t, n.source()); report.Status != apply.OK {
		t.Fatalf("apply: %s %v", report.Status, summaries(report.Problems))
	}
	again, err := e.plan(n.source())
	if err != nil {
		t.Fatal(err)
	}
	if again.HasChanges() {
		t.Fatalf("not settled: %+v", again.Summary)
	}
	checkWorld(t, again, e.world.Things(), n.wanted())
}
