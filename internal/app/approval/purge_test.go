package approval

import (
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/state"
)

func purging(selected bool) *plan.Plan {
	return &plan.Plan{Selection: plan.Selection{Purge: selected}, Summary: plan.Summary{Destroy: 1},
		Resources: map[string]*plan.Step{`exclusive.jobs["x"]`: {Exclusive: "jobs", Part: &change.Destroy{}}}}
}

// A purge is approved by its own word alone, or by the plan that was made with it.
func TestPurge_NeedsItsOwnWord(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	all := "create,update,replace,destroy,forget,publish,deferred,drift,other-path,whole-machine"
	for name, c := range map[string]struct {
		options  Options
		saved    bool
		selected bool
		ok       bool
	}{
		"everything":                   {Options{Auto: true}, false, false, false},
		"all other kinds":              {Options{Kinds: text(all)}, false, false, false},
		"a plan that was not saved":    {Options{Auto: true}, false, true, false},
		"its word":                     {Options{Auto: true, Kinds: text("purge")}, false, true, true},
		"its word alone":               {Options{Kinds: text("purge,create")}, false, true, true},
		"a plan made with it":          {Options{}, true, true, true},
		"a plan that has no approval":  {Options{}, true, false, false},
		"that and everything":          {Options{Auto: true}, true, false, false},
		"that and all other kinds":     {Options{Kinds: text(all)}, true, false, false},
		"a destroy without approval":   {Options{Kinds: text("destroy")}, false, true, false},
		"a question needs no terminal": {Options{Kinds: text("purge"), Auto: true}, false, true, true},
	} {
		a, err := New(c.options, c.saved)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		err = a.Approve(t.Context(), &asker{}, purging(c.selected), state.Snapshot{}, ".", &apply.Options{})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A saved plan that does not purge is not made to do so.
func TestPurge_OfAPlanMadeWithoutIt(t *testing.T) {
	t.Parallel()
	a, err := New(Options{Auto: true, Kinds: new("purge")}, true)
	if err != nil {
		t.Fatal(err)
	}
	p := &plan.Plan{Exclusive: []plan.Exclusive{{Name: "jobs", Undone: []plan.ExclusiveItem{{Identity: "x"}}}}}
	if err := a.purges(p); err == nil {
		t.Error("the approval has no effect, and nobody is notified")
	}
	p.Selection.Purge = true
	if err := a.purges(p); err != nil {
		t.Error(err)
	}
}

func TestOfPlan_TakesWhatChangesThePlan(t *testing.T) {
	t.Parallel()
	other, purges, err := OfPlan(new("purge,other-path"))
	if !other || !purges || err != nil {
		t.Errorf("%v, %v, %v", other, purges, err)
	}
	if _, _, err := OfPlan(new("purge,destroy")); err == nil {
		t.Error("a plan destroys nothing")
	}
}
