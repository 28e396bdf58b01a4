package watching

import (
	"testing"

	"deployster/internal/app/watch"
	"deployster/plan/drift"
)

// A resource that is VALID is ok, and what is remarkable about it is named.
func TestWordOf_NamesWhatIsRemarkable(t *testing.T) {
	t.Parallel()
	for want, look := range map[string]watch.Look{
		"ok":                   {Status: drift.None},
		"ok: its state is new": {Status: drift.None, Differs: true, Reason: "its state is new"},
		"drifted":              {Status: drift.Drifted, Reason: "changed"},
	} {
		if got := wordOf(look); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
