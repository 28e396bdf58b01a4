package resource

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deployster/protocol"
)

// An action carries out what its question has planned just before, once; what was planned for
// another resource, or for another config, it does not take.
func TestAct_CarriesOutWhatWasPlanned(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record")
	t.Setenv("TEST_RECORD", record)
	p, in := worldly(t, func(w http.ResponseWriter, _ string) { _, _ = fmt.Fprint(w, `{"id":"7","label":"a"}`) })
	plans := func() int {
		text, err := os.ReadFile(record)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "PlanResourceChange")
	}
	ask := func(in protocol.StateInput) protocol.Action {
		a, err := p.State(t.Context(), in, io.Discard)
		if err != nil || len(a.Actions) != 1 {
			t.Fatalf("%+v, %v", a, err)
		}
		return a.Actions[0]
	}
	other, another := in, in
	other.Name = "b"
	another.Config = json.RawMessage(strings.Replace(string(in.Config), `"label":"a"`, `"label":"a","value":"v"`, 1))
	shown := map[string]protocol.Action{"a": ask(in), "v": ask(another)}
	for _, c := range []struct {
		name  string
		in    protocol.StateInput
		shown string
		plans int
	}{
		{"for another resource", other, "a", 1},
		{"what was asked", in, "a", 0},
		{"a second time", in, "a", 1},
		{"with another config", another, "v", 0},
	} {
		before := plans()
		_, err := p.Act(t.Context(), protocol.ActionInput{StateInput: c.in}, createAction, shown[c.shown].Args[1], io.Discard)
		if n := plans() - before; err != nil || n != c.plans {
			t.Errorf("%s: planned %d times, and must be %d: %v", c.name, n, c.plans, err)
		}
	}
	for i := range 3 * keptPlans {
		one := in
		one.Name = fmt.Sprint(i)
		ask(one)
	}
	for _, one := range p.open {
		if len(one.plans.of) != keptPlans || len(one.plans.order) != keptPlans {
			t.Errorf("%d plans are kept, in an order of %d", len(one.plans.of), len(one.plans.order))
		}
	}
}

// What a provider has is asked of its program once.
func TestInit_QueriesOnce(t *testing.T) {
	p, in := worldly(t, func(http.ResponseWriter, string) {})
	first, err := p.Init(t.Context(), in.InitInput)
	if err != nil {
		t.Fatal(err)
	}
	p.Path = "/nowhere"
	again, err := p.Init(t.Context(), in.InitInput)
	if err != nil || string(again.ConfigSchema) != string(first.ConfigSchema) {
		t.Errorf("%+v, %v", again, err)
	}
}
