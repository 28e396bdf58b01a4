package apply_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/protocol"
)

// afterIn gives, for each run since the last call, what was run and which actions
// it was told that were just run.
func (e *engine) afterIn(t *testing.T, seen *int) []string {
	t.Helper()
	var out []string
	calls := e.fake.Calls()
	for _, c := range calls[*seen:] {
		var in protocol.StateInput
		if err := json.Unmarshal(c.Stdin, &in); err != nil {
			t.Fatal(err)
		}
		if len(c.Args) > 0 { // an init has none
			out = append(out, fmt.Sprint(c.Args[0], " ", in.After))
		}
	}
	*seen = len(calls)
	return out
}

// The state that is asked after the actions is told which these were; no other
// state is, and no action.
func TestRun_AfterTheActions(t *testing.T) {
	t.Parallel()
	e, seen := newEngine(t.TempDir()), 0
	for _, c := range []struct {
		source string
		want   []string
	}{
		{thing("a", "v", "1"), []string{"state []", "state []", "make []", "state [make]"}},
		{thing("a", "v", "2"), []string{"state []", "state []", "change []", "state [change]"}},
		{thing("a", "v", "2"), []string{"state []"}},
		{"", []string{"state []", "state []", "remove []", "state [remove]"}},
	} {
		e.do(t, c.source)
		if got := e.afterIn(t, &seen); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.source, got, c.want)
		}
	}
}

// What is made in the place of what was destroyed is told which actions did that, where its
// type remembers: else it could take what it finds by its config for what it is to make.
func TestReplace_ReportsThatTheFirstIsGone(t *testing.T) {
	t.Parallel()
	for ty, want := range map[string][]string{
		"keeper": {"state []", "state []", "remove []", "state [remove]", "state [remove]", "make []", "state [make]"},
		"thing":  {"state []", "state []", "remove []", "state [remove]", "state []", "make []", "state [make]"},
	} {
		e, seen := newEngine(t.TempDir()), 0
		e.fake.Add("test/keeper:1", e.keeper)
		source := one(ty, "a", `"x"`, "1")
		e.do(t, source)
		e.afterIn(t, &seen)
		_, p := e.selected(source, plan.Selection{Replace: []string{"a"}})
		if report, err := e.apply(t.Context(), p); err != nil || report.Status != apply.OK {
			t.Errorf("%s: %+v, %v", ty, report, err)
		}
		if got := e.afterIn(t, &seen); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", ty, got, want)
		}
	}
}
