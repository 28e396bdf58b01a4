package stateview

import (
	"strings"
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/internal/ui/paint"
	"deployster/internal/ui/render"
	"deployster/state"
)

// On a narrow terminal a recorded resource has its details in the next line, and no word is cut.
func TestState_NarrowLines(t *testing.T) {
	got := Entry("application[8]", state.Entry{Type: "lab/limit:1", State: []byte(`{}`)}, render.Options{Width: 40})
	if first, _, _ := strings.Cut(got, "\n"); paint.Width(first) > 40 || !strings.Contains(got, "0001-01-01T00:00:00Z)") {
		t.Errorf("%q", got)
	}
}

// What is on a host has that below its address, as in a plan.
func TestState_Hosts(t *testing.T) {
	on := state.Entry{Type: "lab/limit:1", State: []byte(`{}`)}
	on.Settings.Host = &runner.Host{Name: `web["a"]`, Address: "10.0.0.5", User: "deploy"}
	recorded := state.Snapshot{Resources: map[string]state.Entry{"motd": on, "vm": {Type: "lab/vm:1", State: []byte(`{}`)}}}
	for name, c := range map[string]struct {
		o          render.Options
		motd, here string
	}{
		"in full": {render.Options{}, `motd  (lab/limit:1, valid at 0001-01-01T00:00:00Z)
  on web["a"] (deploy@10.0.0.5)
  state =`, `vm  (lab/vm:1, valid at 0001-01-01T00:00:00Z)
  state =`},
		"a line for it": {render.Options{Compact: true}, `motd  on web["a"] (deploy@10.0.0.5)  lab/limit:1, valid at`, "vm    lab/vm:1, valid at"},
	} {
		got := paint.Colors(State(recorded, c.o), false)
		for _, line := range []string{c.motd, c.here} {
			if !strings.Contains("\n"+got, "\n"+line) {
				t.Errorf("%s: no line begins with %s:\n%s", name, line, got)
			}
		}
	}
}
