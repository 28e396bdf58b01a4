package protocol

import "testing"

// An older deployster sends no features, and so knows none.
func TestFeatures_UnknownOnesAreNotAnswered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		features []string
		want     bool
	}{{nil, false}, {[]string{}, false}, {[]string{"other"}, false}, {[]string{"other", "batch"}, true}} {
		if got := (InitInput{Features: c.features}).Has("batch"); got != c.want {
			t.Errorf("features %q: %v", c.features, got)
		}
	}
}
