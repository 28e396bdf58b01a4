package apply_test

import (
	"testing"

	"deployster/apply"
	"deployster/plan"
)

// TestReadOnly_Waits: a read_only resource that needs what is to change is looked at when
// that is done. It is as declared then, or the apply fails there.
func TestReadOnly_Waits(t *testing.T) {
	t.Parallel()
	source := func(v string) string {
		return replaced(thing("s", "v", v), "test/thing:1", "test/told:1") +
			replaced(thing("look", "v", "resource.s.state.v"), "  config", "  read_only = true\n  config") +
			thing("after", "v", "resource.look.state.v")
	}
	for name, c := range map[string]struct {
		becomes  string // of what is looked at, when s has changed
		status   apply.Status
		problems string
	}{
		"it is right then": {`{"v":2}`, apply.OK, "null"},
		"it is not":        {`{"v":1}`, apply.Error, `["look: Read-only resource differs from its config"]`},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t.TempDir())
			e.fake.Add("test/told:1", forecasting(e.world))
			e.world.Set("look", `{"v":1}`)
			e.do(t, source("1"))
			got, p := e.selected(source("2"), plan.Selection{})
			if want := "after:deferred look:deferred s:update"; got != want {
				t.Fatalf("planned %s, want %s", got, want)
			}
			if look := p.Resources["look"]; len(look.Answer().Actions) != 0 || look.Answer().Stale != nil || look.Reason.Words() != "resource.s will be updated" {
				t.Errorf("look is %+v", look)
			}
			e.world.Watch(func(name, _ string) {
				if name == "s" {
					e.world.Set("look", c.becomes)
				}
			})
			report, err := e.apply(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if report.Status != c.status || encode(summaries(report.Problems)) != c.problems {
				t.Errorf("%s, %v", report.Status, summaries(report.Problems))
			}
			if got := e.world.Things()["look"]; got != c.becomes {
				t.Errorf("what is only looked at is %s now", got)
			}
		})
	}
}
