package planpage

import (
	"testing"

	"deployster/plan"
	"deployster/plan/change"
	"deployster/plan/order"
)

// What is removed goes before what it needs: arrows still point at what is needed.
func TestPage_RemovalKeepsItsDirection(t *testing.T) {
	p := &plan.Plan{Layers: [][]string{{"app"}, {"disk"}},
		Resources: map[string]*plan.Step{"app": {Part: &change.Destroy{}}, "disk": {Part: &change.Destroy{}}},
		Edges:     []plan.Edge{{From: "app", To: "disk", Origin: order.Removal}}}
	if e := Diagram(p).Edges[0]; e.From != "app" || e.To != "disk" {
		t.Errorf("the arrow points from %s at %s", e.From, e.To)
	}
	v := newView(Page{Plan: p}, nil)
	if len(v.needs["app"]) != 1 || len(v.neededBy["disk"]) != 1 || len(v.needs["disk"]) != 0 {
		t.Errorf("needs: %v, needed by: %v", v.needs, v.neededBy)
	}
}

func TestKinds_NoTwoChipsAreAlike(t *testing.T) {
	said := map[text]bool{}
	once := func(word text) {
		if said[word] {
			t.Errorf("two chips say %q", word)
		}
		said[word] = true
	}
	for _, k := range kinds {
		once(k.many)
	}
	for _, trait := range traits {
		if !trait.quiet {
			once(trait.Word)
		}
	}
}
