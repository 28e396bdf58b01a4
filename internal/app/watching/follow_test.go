package watching

import (
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/plan"
)

// A version that could not be applied is tried again after pauses that grow to an hour; another version at once.
func TestFollower_TriesAgainAfterPauses(t *testing.T) {
	t.Parallel()
	f := &follower{every: time.Minute, tries: map[string]*try{}}
	now := time.Now()
	version := func(ref string) map[string]string { return map[string]string{"site": ref} }
	tries := 0
	for range 10 * 60 { // ten hours
		tries += len(f.due(version("1"), now))
		now = now.Add(time.Minute)
	}
	if tries < 12 || tries > 16 { // after 1, 2, 4, 8, 16, 32 minutes, and then each hour
		t.Errorf("%d tries in ten hours", tries)
	}
	if found := f.due(version("2"), now); !slices.Equal(found, []string{"artifact.site 2"}) {
		t.Errorf("another version: %q", found)
	}
	if found := f.due(nil, now); len(found)+len(f.tries) > 0 {
		t.Errorf("without a new version: %q, %v", found, f.tries)
	}
	if found := f.due(version("2"), now); len(found) != 1 {
		t.Error("a version that is new again is not due")
	}
}

// What cannot be followed is refused with its reason.
func TestFollowed_IsRefused(t *testing.T) {
	t.Parallel()
	update := []plan.Change{plan.Update}
	for text, o := range map[string]struct {
		follow string
		kinds  []plan.Change
	}{"takes the address of an artifact": {"site", update}, "approves no change": {"artifact.site", []plan.Change{"drift"}},
		"such as artifact.site": {"artifact.", update}} {
		if _, err := followed(Options{Follow: []string{o.follow}}, o.kinds); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", o.follow, err)
		}
	}
	if names, err := followed(Options{Follow: []string{"artifact.a", "artifact.a", "artifact.b"}}, update); err != nil || !slices.Equal(names,
		[]string{"a", "b"}) {
		t.Errorf("%q %v", names, err)
	}
}
