package apply_test

import (
	"fmt"
	"strings"
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

// What depends on a resource is decided again when a guess about that resource is taken
// back: it does not keep a value of what is destroyed.
func TestRematch_DecidesAgainAboutDependants(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.fake.Add("test/keeper:1", e.keeper)
	sized := func(name, size, more string) string {
		return fmt.Sprintf("resource %q {\n  type = \"test/keeper:1\"\n%s  config = {\n    v = %s\n  }\n}\n", name, more, size)
	}
	e.do(t, sized("a", "1", "")+sized("b", "2", "")+thing("y", "v", "resource.a.state.v"))
	p, err := e.plan(sized("a2", "1", "") + sized("b2", "2", "  depends_on = [resource.new]\n") + thing("new") +
		thing("y", "v", "resource.a2.state.v"))
	if err != nil {
		t.Fatal(err)
	}
	if got := changes(p); !strings.Contains(got, "a2:create") || !strings.Contains(got, "y:deferred") {
		t.Errorf("planned %s", got)
	}
}
