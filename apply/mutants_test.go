//go:build mutants

package apply_test

import (
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// TestMutants_AreSeen takes out each check, and wants its test to fail.
func TestMutants_AreSeen(t *testing.T) {
	for _, c := range checks() {
		tests := mutation.Tests{Package: "apply", Run: "^" + c.test + "$", Flags: []string{"-test.timeout", "60s"}, Sign: c.test}
		t.Run(strings.ReplaceAll(c.Name, " ", "-"), func(t *testing.T) { tests.See(t, c.Fault) })
	}
}
