package clients

import (
	"slices"
	"testing"

	"deployster/plan"
	"deployster/state"
)

// What -replace asks for is put once: who goes on with a plan whose run died puts the rest.
func TestPutAgain_OnceForAPlan(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{ID: "p", Selection: plan.Selection{Replace: []string{"publish.a", "publish.b"}}}
	done := map[string]string{"publish.a": "sha256:1", "publish.b": ""}
	died := state.Snapshot{Applied: []state.Applied{{Plan: "p", Status: state.StatusDied, Done: done}}}
	other := state.Snapshot{Applied: []state.Applied{{Plan: "q", Status: state.StatusDied, Done: done}}}
	for name, c := range map[string]struct {
		prior state.Snapshot
		want  []string
	}{
		"nothing was applied":     {state.Snapshot{}, []string{"publish.a", "publish.b"}},
		"a run of it has died":    {died, []string{"publish.b"}},
		"another plan's has died": {other, []string{"publish.a", "publish.b"}},
	} {
		if got := putAgain(p, c.prior); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
