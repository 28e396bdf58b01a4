package render

import (
	"strings"
	"testing"

	"deployster/apply"
	"deployster/internal/ui/paint"
	"deployster/plan"
	"deployster/plan/change"
)

// The end of an apply says what became of what was deferred, and what was left.
func TestReport_WhatBecameOfDeferred(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step      plan.Step
		res       apply.ResourceReport
		row, sums string
	}{
		{plan.Step{Part: &change.Deferred{}}, apply.ResourceReport{Status: apply.OK, Became: plan.Update}, "updated", "1 updated."},
		{plan.Step{Part: &change.Deferred{Expected: plan.Update}}, apply.ResourceReport{Status: apply.OK, Became: plan.Create}, "created",
			"1 created."},
		{plan.Step{Part: &change.Deferred{Expected: plan.Create}}, apply.ResourceReport{Status: apply.OK}, "created", "1 created."},
		{plan.Step{Part: &change.Left{}}, apply.ResourceReport{Status: apply.Kept}, "kept in the state", "1 kept in the state."},
		{plan.Step{Part: &change.Deferred{}}, apply.ResourceReport{Status: apply.Skipped}, "unchanged", "1 unchanged."},
	} {
		p := planOf([]string{"a"}, map[string]*plan.Step{"a": &c.step})
		p.Moves = nil
		p.Summary.Deferred = 1
		text := Report(p, &apply.Report{Status: apply.OK, Resources: map[string]*apply.ResourceReport{"a": &c.res}}, nil, Options{})
		if strings.Count(text, c.row) != 2 || !strings.Contains(text, "Resources: "+c.sums) {
			t.Errorf("%+v: %s", c.res, text)
		}
	}
}

// What ends is named as it was asked for.
func TestReport_OfADestroy(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Resources: map[string]*plan.Step{"a": {Part: &change.Destroy{}}}, Summary: plan.Summary{Destroy: 1}}
	p.Selection.Destroy = true
	for status, want := range map[apply.Status]string{apply.OK: "Destroy complete. Resources: 1 destroyed.", apply.Error: "Destroy failed."} {
		r := &apply.Report{Status: status, Resources: map[string]*apply.ResourceReport{"a": {Status: status}}}
		if text := paint.Colors(Report(p, r, nil, Options{}), false); !strings.Contains(text, want) {
			t.Errorf("want %s:\n%s", want, text)
		}
	}
}
