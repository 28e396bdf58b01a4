package apply_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/state"
)

// brokenJournal fails from a certain kind of fact on, as a full disk would.
type brokenJournal struct {
	apply.Journal
	started, ended, valid, removed, outputs error
}

func (b brokenJournal) ActionStarted(s state.Start) error {
	if b.started != nil {
		return b.started
	}
	return b.Journal.ActionStarted(s)
}

func (b brokenJournal) ActionEnded(addr, action string, e state.End) error {
	if b.ended != nil {
		return b.ended
	}
	return b.Journal.ActionEnded(addr, action, e)
}

func (b brokenJournal) Valid(addr string, e state.Entry) error {
	if b.valid != nil {
		return b.valid
	}
	return b.Journal.Valid(addr, e)
}

func (b brokenJournal) Removed(addr string) error {
	if b.removed != nil {
		return b.removed
	}
	return b.Journal.Removed(addr)
}

func (b brokenJournal) Outputs(outputs map[string]state.Output) error {
	if b.outputs != nil {
		return b.outputs
	}
	return b.Journal.Outputs(outputs)
}

// A fact that cannot be made durable stops everything: an action that could not
// be recorded is never started, and after any such failure nothing new is,
// whatever -keep-going says.
func TestRun_StartsNothingThatCannotBeRecorded(t *testing.T) {
	full := errors.New("no space left on device")
	for name, c := range map[string]struct {
		journal brokenJournal
		done    []string
	}{
		"start": {brokenJournal{started: full}, nil},
		"end":   {brokenJournal{ended: full}, []string{"make a"}},
		"valid": {brokenJournal{valid: full}, []string{"make a"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t.TempDir())
			e.opts.Parallelism, e.opts.KeepGoing = 1, true
			e.wrap = func(j apply.Journal) apply.Journal {
				c.journal.Journal = j
				return c.journal
			}
			p, err := e.plan(thing("a") + thing("b"))
			if err != nil {
				t.Fatal(err)
			}
			report, err := e.apply(t.Context(), p)
			if err == nil || !strings.Contains(err.Error(), "no space left") {
				t.Errorf("the failure is not told: %v", err)
			}
			if done := e.world.TakeLog(); !slices.Equal(done, c.done) {
				t.Errorf("done %v, want %v", done, c.done)
			}
			if report.Status != apply.Error || report.Resources["b"].Status != apply.NotStarted {
				t.Errorf("reported %s, b %s", report.Status, report.Resources["b"].Status)
			}
		})
	}
}

// The end of a resource, what was found of one, and the outputs are facts too.
func TestRun_WhatCannotBeRecordedIsReported(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left on device")
	forgotten := strings.Replace(thing("a", "v", "1"), "config", "lifecycle {\n    on_remove = \"forget\"\n  }\n  config", 1)
	for name, c := range map[string]struct {
		journal     brokenJournal
		first, then string
		only        plan.Selection
	}{
		"a removal":      {brokenJournal{removed: full}, thing("a", "v", "1"), "", plan.Selection{}},
		"a forget":       {brokenJournal{removed: full}, forgotten, "", plan.Selection{}},
		"what was found": {brokenJournal{valid: full}, thing("a", "v", "1"), thing("a", "v", "1"), plan.Selection{RefreshOnly: true}},
		"outputs":        {brokenJournal{outputs: full}, "", "output \"o\" {\n  value = 1\n}\n", plan.Selection{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			e.do(t, c.first)
			if c.only.RefreshOnly {
				e.world.Set("a", `{"v":7}`)
			}
			_, p := e.selected(c.then, c.only)
			e.wrap = func(j apply.Journal) apply.Journal {
				c.journal.Journal = j
				return c.journal
			}
			report, err := e.apply(t.Context(), p)
			if err == nil || !strings.Contains(err.Error(), "no space left") || report.Status != apply.Error {
				t.Errorf("%s, %v", report.Status, err)
			}
		})
	}
}

// The first interrupt lets the running action finish and starts nothing new.
func TestInterrupt_LetsTheRunningActionFinish(t *testing.T) {
	e := newEngine(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	e.opts.Parallelism = 1
	e.world.Watch(func(string, string) { cancel() })
	p, err := e.plan(thing("a") + thing("b"))
	if err != nil {
		t.Fatal(err)
	}
	report, err := e.apply(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	if done := e.world.TakeLog(); !slices.Equal(done, []string{"make a"}) {
		t.Errorf("done %v", done)
	}
	a, b := report.Resources["a"], report.Resources["b"]
	if report.Status != apply.Interrupted || a.Status != apply.OK || b.Status != apply.NotStarted || !slices.Equal(b.NotAttempted, []string{"make"}) {
		t.Errorf("reported %s, a %+v, b %+v", report.Status, a, b)
	}
	// What was finished is recorded.
	snapshot, _, err := state.Load(state.File(e.statePath()))
	if err != nil || len(snapshot.Resources) != 1 {
		t.Errorf("the state file holds %v, %v", snapshot.Resources, err)
	}
}

// After a failure nothing new is started, unless that is wanted: then what does not
// depend on it is.
func TestRun_WithoutKeepGoing(t *testing.T) {
	t.Parallel()
	for keepGoing, want := range map[bool]string{false: "error a=error b=not_started c=not_started", true: "error a=error b=not_started c=ok"} {
		e := newEngine(t.TempDir())
		e.opts.Parallelism, e.opts.KeepGoing = 1, keepGoing
		e.world.Fail("a", true)
		report := e.do(t, thing("a", "v", "1")+thing("b", "v", "resource.a.state.v")+thing("c"))
		if got := outcomes(report); got != want {
			t.Errorf("keep going %v: %s, want %s", keepGoing, got, want)
		}
	}
}

// Independent resources run at the same time, up to the limit and no further.
func TestParallelism_ReachesItsLimitAndNoMore(t *testing.T) {
	for _, limit := range []int64{1, 3} {
		e := newEngine(t.TempDir())
		var now, most atomic.Int64
		full := make(chan struct{})
		e.opts.Parallelism = int(limit)
		e.world.Watch(func(string, string) {
			n := now.Add(1)
			most.Store(max(most.Load(), n))
			if n == limit {
				close(full)
			}
			<-full // nobody goes on before as many run as may
			if now.Add(-1); limit == 1 {
				full = make(chan struct{})
			}
		})
		report := e.do(t, thing("a")+thing("b")+thing("c"))
		if report.Status != apply.OK || most.Load() != limit {
			t.Errorf("%d concurrently, want %d; %s", most.Load(), limit, report.Status)
		}
	}
}

// A plan that was made for a resource does not fit once another apply has
// changed what the state file says of it; one of a stranger does not matter.
func TestStale_ByRelatedChangesOnly(t *testing.T) {
	e := newEngine(t.TempDir())
	e.do(t, thing("a", "v", "1")+thing("b"))
	p, err := e.plan(thing("a", "v", "2") + thing("b"))
	if err != nil {
		t.Fatal(err)
	}
	e.do(t, thing("a", "v", "1")+thing("b")+thing("stranger"))
	if _, err := e.apply(t.Context(), p); err != nil {
		t.Fatalf("a stranger was recorded, and the plan was refused: %v", err)
	}
	if _, err := e.apply(t.Context(), p); err == nil || !strings.Contains(err.Error(), "it was already applied") {
		t.Errorf("applied twice: %v", err)
	}
	p, err = e.plan(thing("a", "v", "3") + thing("b") + thing("stranger"))
	if err != nil {
		t.Fatal(err)
	}
	e.do(t, thing("a", "v", "4")+thing("b")+thing("stranger"))
	if _, err := e.apply(t.Context(), p); err == nil || !strings.Contains(err.Error(), "plan is stale: the state of a") {
		t.Errorf("a related change: %v", err)
	}
}

// A plan that destroys something is not carried out when something else has been
// made upon it since.
func TestStale_DestroyByANewDependant(t *testing.T) {
	e := newEngine(t.TempDir())
	e.do(t, thing("a")+thing("b"))
	p, err := e.plan(thing("b"))
	if err != nil {
		t.Fatal(err)
	}
	e.do(t, thing("a")+thing("b")+strings.Replace(thing("c"), "{", "{\n  depends_on = [resource.a]", 1))
	_, err = e.apply(t.Context(), p)
	if err == nil || !strings.Contains(err.Error(), "it destroys resource.a, and resource.c was recorded since as depending on it") {
		t.Fatalf("got %v", err)
	}
	if report := e.do(t, thing("b")); report.Status != apply.OK {
		t.Errorf("a new plan: %+v", report)
	}
}
