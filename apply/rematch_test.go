package apply_test

import (
	"testing"

	"deployster/apply"
)

// A thing that turns out to be what another resource means stays, also where the plan had
// decided to destroy it before that was known.
func TestRematch_KeepsWhatAnotherTurnsOutToMean(t *testing.T) {
	t.Parallel()
	e := endings(t)
	e.do(t, one("known", "d", `"d1"`, "1"))
	e.world.Set("w", `{"v":"d1"}`) // nothing is recorded of it
	e.world.TakeLog()
	looks := replaced(one("known", "e", "resource.w.state.v", "1"), "  config", "  read_only = true\n  config")
	p, err := e.plan(one("known", "d", `"d2"`, "1") + thing("w", "v", `"d1"`) + looks)
	if err != nil {
		t.Fatal(err)
	}
	report, err := e.apply(t.Context(), p)
	if done := e.done(); err != nil || report.Status != apply.OK || done != "make d2" || e.there() != "d1 d2 w" {
		t.Errorf("%v %v, done %q: there is %q", err, summaries(report.Problems), done, e.there())
	}
}
