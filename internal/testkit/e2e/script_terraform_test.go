package e2e

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// buildProvider builds the Terraform provider hashicorp/time from its module: it is
// terraform-provider-time in the directory of the script. The bridge comes beside the
// command.
func buildProvider(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: provider")
	}
	beside := filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "deployster-terraform")
	for _, b := range []struct{ dir, out, what string }{
		{"bridge/testdata/providers", ts.MkAbs("terraform-provider-time"), "github.com/hashicorp/terraform-provider-time"},
		{"bridge", beside, "."},
	} {
		cmd := exec.Command("go", "build", "-mod=mod", "-o", b.out, b.what)
		cmd.Dir, cmd.Stderr = filepath.Join(ts.Getenv("ROOT"), b.dir), os.Stderr
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		ts.Check(cmd.Run())
	}
}
