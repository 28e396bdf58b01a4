package machines

import (
	"os"
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// mutantsTest is the one test of a package that builds others, so it does not run in a machine.
const mutantsTest = "^TestMutants_AreSeen$"

// SeeMutants runs the tests of a package with each fault of its list, each in a machine of its own, and before that
// without any: they must pass then. It does nothing in a machine, where there is no compiler.
func SeeMutants(t *testing.T, directory string) {
	if os.Getenv(insideVariable) != "" {
		return
	}
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -tags=machines")
	list := mutation.Read(t)
	var names []string
	for _, m := range list {
		names = append(names, m.Seen)
	}
	mutation.Tests{Package: directory, Run: "^(" + strings.Join(names, "|") + ")$", Flags: []string{"-test.timeout", "600s"}}.Pass(t)
	for _, m := range list {
		tests := mutation.Tests{Package: directory, Run: "^" + m.Seen + "$", Flags: []string{"-test.timeout", "300s"},
			Sign: "--- FAIL: " + m.Seen}
		t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) { tests.See(t, m) })
	}
}
