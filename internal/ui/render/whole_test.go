package render

import (
	"fmt"
	"strings"
	"testing"

	"deployster/internal/ui/paint"
	"deployster/plan"
	"deployster/plan/change"
)

// Where nobody scrolls all addresses are named, and all that differs is shown.
func TestPlan_Whole(t *testing.T) {
	p := &plan.Plan{Resources: map[string]*plan.Step{}, Layers: [][]string{nil}}
	for i := range 700 {
		addr := fmt.Sprintf("r%d", i)
		p.Resources[addr] = &plan.Step{Type: "a:1", Config: fmt.Appendf(nil, `{"n":%d}`, i/7), Part: &change.Create{}}
		p.Layers[0] = append(p.Layers[0], addr)
	}
	p.Summary.Create = 700
	whole, cut := Plan(p, Options{Whole: true}), Plan(p, Options{})
	for addr := range p.Resources {
		if !strings.Contains(whole, paint.Bold(addr)) {
			t.Errorf("%s is not named", addr)
		}
	}
	if strings.Contains(whole, " more") || !strings.Contains(cut, " more") {
		t.Errorf("whole: %.500s\ncut: %.500s", whole, cut)
	}
}
