package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// startSSHD starts an sshd on loopback, for hosts that are this machine with data
// directories of their own. What it says in the environment: SSH_PORT, SSH_KEY (the
// file of a key that it takes), SSH_HOST_KEY (the file of its own public key), and
// HOSTS, a directory for the data directories.
func startSSHD(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: sshd")
	}
	dir := ts.MkAbs(".sshd")
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(os.MkdirAll("/run/sshd", 0o755)) // Debian's sshd wants it
	for _, name := range []string{"id", "hostkey"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput()
		if err != nil {
			ts.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	hosts, err := os.MkdirTemp("", "dh")
	ts.Check(err)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	_, port, err := net.SplitHostPort(free.Addr().String())
	ts.Check(err)
	ts.Check(free.Close())
	config := strings.ReplaceAll(fmt.Sprintf(`ListenAddress 127.0.0.1:%s
HostKey DIR/hostkey
PidFile none
AuthorizedKeysFile DIR/id.pub
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
UseDNS no
LogLevel ERROR
SetEnv DEPLOYSTER_IDLE_EXIT=1s
`, port), "DIR", dir)
	ts.Check(os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600))
	printed, err := os.Create(filepath.Join(dir, "log"))
	ts.Check(err)
	cmd := exec.Command("/usr/sbin/sshd", "-D", "-e", "-f", filepath.Join(dir, "config"))
	cmd.Stdout, cmd.Stderr = printed, printed
	ts.Check(cmd.Start())
	ts.Check(printed.Close())
	ts.Defer(func() {
		_ = cmd.Process.Kill() // it may have ended by itself
		_ = cmd.Wait()
		if left := waitGone(hosts); left != "" {
			ts.Fatalf("left behind on the hosts: %s", left)
		}
		ts.Check(os.RemoveAll(hosts))
	})
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			ts.Check(c.Close())
			break
		}
		if time.Now().After(end) {
			b, _ := os.ReadFile(printed.Name())
			ts.Fatalf("sshd does not listen: %s", b)
		}
	}
	ts.Setenv("SSH_PORT", port)
	ts.Setenv("SSH_KEY", filepath.Join(dir, "id"))
	ts.Setenv("SSH_HOST_KEY", filepath.Join(dir, "hostkey.pub"))
	ts.Setenv("HOSTS", hosts)
}
