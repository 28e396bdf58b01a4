package reason

import (
	"maps"
	"slices"
	"testing"
)

// A resource that waits for a version is distinguished from one that waits for a host, through what depends on either.
func TestAwaited_FollowsWhatWasLeft(t *testing.T) {
	t.Parallel()
	left := map[string]*Reason{"a": New(VersionWaits, "artifact.x", "1", "resource.t"), "b": New(DependencyLeft, "a"), "c": New(DependencyLeft, "b"),
		"h": New(HostUnreachable, "h", "why"), "d": New(DependencyLeft, "h"), "e": New(DependencyLeft, "gone")}
	if got := slices.Sorted(maps.Keys(Awaited(left))); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("%q", got)
	}
}
