package e2e

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// buildProvider builds a Terraform provider, and the bridge beside the command:
// terraform-provider-time in the directory of the script is hashicorp/time, from its
// module; terraform-provider-test is ours.
func buildProvider(ts *testscript.TestScript, neg bool, args []string) {
	from := map[string][2]string{
		"time": {"bridge/testdata/providers", "github.com/hashicorp/terraform-provider-time"},
		"test": {"bridge", "./internal/testprovider/terraform-provider-test"},
	}
	if neg || len(args) != 1 || from[args[0]][0] == "" {
		ts.Fatalf("usage: provider time|test")
	}
	beside := filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "deployster-terraform")
	provider := ts.MkAbs("terraform-provider-" + args[0])
	for _, b := range []struct{ dir, out, what string }{
		{from[args[0]][0], provider, from[args[0]][1]},
		{"bridge", beside, "."},
	} {
		cmd := exec.Command("go", "build", "-mod=mod", "-o", b.out, b.what)
		cmd.Dir, cmd.Stderr = filepath.Join(ts.Getenv("ROOT"), b.dir), os.Stderr
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		ts.Check(cmd.Run())
	}
}
