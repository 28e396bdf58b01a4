package watching

import (
	"testing"
	"time"

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

// A repair that is held back looks like a fault to who has just deleted a file for the third time.
func TestDelayed_NamesWhenAndWhy(t *testing.T) {
	t.Parallel()
	for next, want := range map[time.Duration]string{
		0:                       "",
		300 * time.Millisecond:  "",
		1990 * time.Millisecond: ". It is repaired in 2s, not at once, because it was repaired a short time ago: the delay doubles with each repair, to 10m at most, and ends when the resource did not drift for 10m",
	} {
		if got := delayed(next); got != want {
			t.Errorf("%s: %q, want %q", next, got, want)
		}
	}
}
