package watching

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/internal/app/repairs"
	"deployster/internal/app/watch"
)

// What cannot be planned is told, and holds up nobody: others are repaired in the same
// second, and what nobody has approved is told with its reason.
func TestRun_WhatCannotBePlannedHoldsUpNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
resource "a" {
  type   = "thing"
  config = { size = 1 }
}
resource "b" {
  type   = "thing"
  config = { size = 2 }
}
`)
	e := w.keeper(t)
	source, prior, err := e.Source(t.Context(), repairs.SourceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	looker, _, err := e.Checker(t.Context(), source, prior)
	if err != nil {
		t.Fatal(err)
	}
	w.dumb["a"] = true
	kinds, _ := approved("drift")
	done, err := e.Repair(t.Context(), repairs.RepairOptions{Source: source, Prior: prior, Addresses: []string{"a", "b"}, Kinds: kinds, Checker: looker,
		Ended: func() {}})
	if err != nil || done.Broken == nil || done.Report != nil || !slices.Equal(done.Planned, []string{"b"}) {
		t.Fatalf("%+v, %v", done, err)
	}
	if got := outcomesOf([]string{"a", "b"}, done); got["a"] != watch.Failed || got["b"] != watch.Right {
		t.Errorf("the outcomes are %v", got)
	}
}

// What is right again when a repair looks at it is that, also where something else in the
// same repair is not approved.
func TestOutcomes_AreThoseOfEachResource(t *testing.T) {
	t.Parallel()
	broken := errors.New("it cannot be asked")
	for name, c := range map[string]struct {
		done repairs.Repaired
		want map[string]watch.Outcome
	}{
		"one is not approved": {repairs.Repaired{Refused: map[string]string{"a": "read_only"}, Planned: []string{"b"}},
			map[string]watch.Outcome{"a": watch.NotApproved, "b": watch.Right}},
		"and another depends on it": {repairs.Repaired{Refused: map[string]string{"a": "read_only"}},
			map[string]watch.Outcome{"a": watch.NotApproved, "b": watch.NotApproved}},
		"one cannot be planned": {repairs.Repaired{Broken: broken, Planned: []string{"b"}},
			map[string]watch.Outcome{"a": watch.Failed, "b": watch.Right}},
		"and another is not approved": {repairs.Repaired{Broken: broken, Refused: map[string]string{"b": "read_only"}},
			map[string]watch.Outcome{"a": watch.Failed, "b": watch.NotApproved}},
	} {
		got := outcomesOf([]string{"a", "b"}, c.done)
		if got["a"] != c.want["a"] || got["b"] != c.want["b"] {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// What may be done unattended is what apply can be told to do without a question.
func TestApproved_AcceptsEveryKindOfChange(t *testing.T) {
	t.Parallel()
	kinds, err := approved("drift,create,update,replace,destroy,forget,publish,deferred")
	if err != nil || len(kinds) != 8 {
		t.Errorf("%v, %v", kinds, err)
	}
	if _, err := approved("valid"); err == nil {
		t.Error("valid counts as a kind of change")
	}
}

const addressAndUsers = `
resource "address" {
  type   = "thing"
  config = {}
}
resource "user" {
  type   = "thing"
  config = { size = resource.address.state.number }
}
resource "late" {
  type   = "thing"
  config = { size = resource.address.state.number, text = "a" }
}
`

// After a repair that has changed configs, what tells of changes is begun anew with the new
// ones, and what the manifest had changed before and is applied now is watched.
func TestRun_WatchesWhatARepairHasApplied(t *testing.T) {
	t.Parallel()
	w := newWorld(t, addressAndUsers)
	w.declare(t, strings.Replace(addressAndUsers, `"a"`, `"b"`, 1))
	w.watch(t, Options{Approve: "drift,update"})
	w.await(t, "late  not watched: the manifest has changed")
	w.set(func() { delete(w.things, "address") })
	w.await(t, "watching on: 3 resources")
	w.until(t, "user is watched with its new config", func() bool { return slices.Contains(w.watched, `user {"size":4}`) })
	w.set(func() { delete(w.things, "late") })
	w.await(t, "late: make ok after")
}

// Instances that follow from the state of another resource are repaired as they are recorded.
// What they follow from is repaired before, and where there are no such instances any more
// nothing is done.
func TestRun_RepairsInstancesFromStates(t *testing.T) {
	t.Parallel()
	base := `
resource "base" {
  type   = "thing"
  config = {}
}
`
	w := newWorld(t, base)
	w.declare(t, base+`
resource "each" {
  type     = "thing"
  for_each = toset(["always", "until${resource.base.state.number}"])
  config   = { name = each.key }
}
`)
	w.apply(t)
	w.watch(t, Options{Approve: "drift"})
	w.set(func() { delete(w.things, `each["until1"]`) })
	w.await(t, `each["until1"]: make ok`)
	w.set(func() {
		for name := range w.things {
			delete(w.things, name)
		}
	})
	w.await(t, "base: make ok")
	w.await(t, `each["always"]: make ok`)
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, there := w.things[`each["until1"]`]; there {
		t.Error("what is not declared any more was made")
	}
}

// A watch that has nothing to do any more ends only when the apply has ended that SIGHUP
// asked for.
func TestRun_EndsAfterAnApply(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.declare(t, one+`
resource "new" {
  type   = "thing"
  config = { after = resource.a.state.number }
}
resource "newer" {
  type       = "thing"
  config     = {}
  depends_on = [resource.new]
}
`)
	w.acting = func(name string) {
		if name == "new" {
			time.Sleep(3 * time.Second)
		}
	}
	reload := make(chan struct{}, 1)
	reload <- struct{}{}
	_, ended := w.begin(t, Options{Approve: "drift,create,deferred", Converged: time.Second, Reload: reload})
	if end := <-ended; end != watch.Converged || len(w.things) != 3 {
		t.Errorf("it ended: %s, with %v", end, w.things)
	}
}
