//go:build mutants

package sharedlog_test

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// TestMutants_AreSeen breaks the rules, one after the other, and wants the random
// histories to see each. The tests of presence see what breaks the rule that a new
// holder ends the earlier ones of its machine, and no other process; those of what readers keep
// that nothing is believed which the store does not prove.
func TestMutants_AreSeen(t *testing.T) {
	signs := map[string]string{"TestModel": "seed ", "TestPresence": "presence_test.go:", "TestKept": "kept_test.go:"}
	for _, m := range mutation.Read(t) {
		tests := mutation.Tests{Package: "internal/base/sharedlog", Run: "^" + m.Seen, Flags: []string{"-test.timeout", "2m"}, Sign: signs[m.Seen]}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
