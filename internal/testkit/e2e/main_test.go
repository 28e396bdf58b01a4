package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"deployster/containerd"
	"deployster/containerd/shim"
	_ "deployster/internal/base/collector" // as the real one
	"deployster/internal/base/rootless"
	"deployster/internal/cli"
)

// TestMain lets the test binary be all that the real one is: the command, the
// embedded containerd, and its shim.
func TestMain(m *testing.M) {
	switch {
	case rootless.IsHolder(os.Args[0]):
		os.Exit(rootless.Hold(os.Args[1:]))
	case shim.Is(os.Args[0]):
		shim.Run()
		return
	case containerd.IsServer(os.Args[0]):
		os.Exit(containerd.RunServer(os.Args[1:]))
	case filepath.Base(os.Args[0]) == cutSSH:
		os.Exit(cuttingSSH(os.Args[1], os.Args[2:]))
	case filepath.Base(os.Args[0]) == kubeProgram:
		if err := serveCluster(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	case filepath.Base(os.Args[0]) == "deployster":
		command() // of a script: it has nothing of the suite's
	}
	s, err := newSuite(m)
	if err != nil {
		panic(err)
	}
	testscript.Main(s, map[string]func(){
		"deployster": command,
	})
}

// command is the command of a script.
func command() {
	dropRights()
	dropToPerson()
	if err := rootless.Arrive(); err != nil {
		panic(err)
	}
	os.Exit(cli.Main(kept()))
}
