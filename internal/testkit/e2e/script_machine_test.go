package e2e

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// onMachine goes on with a script on the machine with a name: one that has its own
// data directory, and so its own containers, images and claims on shared states.
func onMachine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: machine NAME")
	}
	variable := "MACHINE_" + args[0]
	data := ts.Getenv(variable)
	if data == "" {
		var err error
		data, err = os.MkdirTemp("", "dm")
		ts.Check(err)
		ts.Setenv(variable, data)
		ts.Defer(func() {
			ts.Check(os.RemoveAll(data))
			if left := waitGone(data); left != "" {
				ts.Fatalf("left behind: %s", left)
			}
		})
	}
	ts.Setenv("DEPLOYSTER_DATA_DIR", data)
}
