package e2e

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"deployster/internal/testkit/services"
)

// bundlesName is the directory of bundles below a data directory, and the one that all scripts share.
const bundlesName = "bundles"

// startSSHD starts an sshd on loopback, for hosts that are this machine with data
// directories of their own. What it says in the environment: SSH_PORT, SSH_KEY (the
// file of a key that it takes), SSH_HOST_KEY (the file of its own public key), and
// HOSTS, a directory for the data directories.
func startSSHD(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: sshd")
	}
	hosts, err := os.MkdirTemp("", "dh")
	ts.Check(err)
	atEnd(ts, func() error {
		if left := waitGone(hosts); left != "" {
			return fmt.Errorf("left behind on the hosts: %s", left)
		}
		return os.RemoveAll(hosts)
	})
	// To compress the programs takes a second of the processor: it is done once for all scripts.
	bundles := filepath.Join(os.TempDir(), bundlesName)
	ts.Check(os.MkdirAll(bundles, 0o700))
	ts.Check(os.Symlink(bundles, filepath.Join(ts.Getenv("DEPLOYSTER_DATA_DIR"), bundlesName)))
	m := services.SSHD(scripted{ts: ts}, ts.MkAbs(".sshd"), "1s")
	ts.Setenv("SSH_PORT", m.Port)
	ts.Setenv("SSH_KEY", m.Key)
	ts.Setenv("SSH_HOST_KEY", m.HostKey)
	ts.Setenv("HOSTS", hosts)
}
