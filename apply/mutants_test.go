//go:build mutants

package apply_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/testkit/mutation"
)

// TestMutants_AreSeen takes out each check, and wants its test to fail.
func TestMutants_AreSeen(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks() {
		t.Run(strings.ReplaceAll(c.Name, " ", "-"), func(t *testing.T) {
			out, err := exec.Command(mutation.Build(t, root, "apply", c.Fault), "-test.run", "^"+c.test+"$", "-test.timeout", "60s").CombinedOutput()
			if err == nil {
				t.Fatalf("%s passes without it", c.test)
			}
			if !strings.Contains(string(out), c.test) {
				t.Errorf("it failed otherwise: %s", out)
			}
		})
	}
}
