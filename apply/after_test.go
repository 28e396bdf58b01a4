package apply_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

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
