package render

import (
	"strings"
	"testing"

	"deployster/internal/ui/paint"
	"deployster/plan"
	"deployster/plan/change"
)

// What is not decided because planning failed is not decided by an apply either: there is none.
func TestPlan_LegendOfAFailedPlan(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Layers: [][]string{{"broken"}, {"later", "perhaps"}}, Resources: map[string]*plan.Step{
		"broken":  {Type: "a:1", Part: &change.ReadFailed{}},
		"later":   {Type: "a:1", Part: &change.Deferred{}},
		"perhaps": {Certainty: plan.MayChange, Type: "a:1", Part: &change.Valid{}},
	}}
	p.Summary = plan.Summary{ReadFailed: 1, Deferred: 1, Valid: 1, MayChange: 1}
	if text := Plan(p, Options{}); strings.Count(text, "decided during apply") != 2 {
		t.Errorf("a plan that can be applied:\n%s", text)
	}
	p.Errored = true
	text := Plan(p, Options{})
	for _, want := range []string{"deferred (not decided, as planning failed)", "may change (not decided, as planning failed)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if strings.Contains(text, "decided during apply") {
		t.Errorf("nothing of it is decided during an apply:\n%s", text)
	}
}

// What deployster did not create is marked where it is destroyed, in each form of a plan.
func TestPlan_MarksWhatDeploysterDidNotCreate(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Layers: [][]string{{"old", "again"}}, Resources: map[string]*plan.Step{
		"old":   {Type: "a:1", Part: &change.Destroy{NotCreated: true}},
		"again": {Type: "a:1", Part: &change.Replace{Old: &plan.Step{Part: &change.Destroy{NotCreated: true}}}},
	}}
	p.Summary = plan.Summary{Destroy: 1, Replace: 1, DestroyAdopted: 2}
	for _, compact := range []bool{false, true} {
		text := paint.Colors(Plan(p, Options{Compact: compact}), false)
		if strings.Count(text, "not created by deployster") != 2 || !strings.Contains(text, "Not created by deployster, and destroyed: 2.") {
			t.Errorf("compact %v:\n%s", compact, text)
		}
	}
}
