package services

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Machine is an sshd on loopback: a host that is this machine.
type Machine struct {
	Port    string
	Key     string // the file of a private key that it takes
	HostKey string // the file of its own public key
}

// sshdConfig is that of a Machine, with its port and DIR. It has a home of its own: a shell reads
// the .bashrc there when sshd starts it, and that of a person may take longer than the login. The
// key exchange is the cheapest, since both of its ends are here.
const sshdConfig = `ListenAddress 127.0.0.1:%s
HostKey DIR/hostkey
PidFile none
AuthorizedKeysFile DIR/id.pub
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
MaxStartups 500:30:1000
MaxSessions 500
UseDNS no
KexAlgorithms curve25519-sha256
LogLevel ERROR
SetEnv DEPLOYSTER_IDLE_EXIT=%s HOME=DIR/home
`

// SSHD starts an sshd in a directory of its own. The containerds that far ends start
// through it stay for so long when they are idle.
func SSHD(t testing.TB, dir, idle string) Machine {
	t.Helper()
	for _, d := range []string{filepath.Join(dir, "home"), "/run/sshd"} { // Debian's sshd wants the second
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"id", "hostkey"} {
		out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput()
		if err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	port := freePort(t)
	config := strings.ReplaceAll(fmt.Sprintf(sshdConfig, port, idle), "DIR", dir)
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("/usr/sbin/sshd", "-D", "-e", "-f", filepath.Join(dir, "config"))
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log := start(t, c, syscall.SIGKILL)
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			_ = c.Close() // it was only to see
			break
		}
		if time.Now().After(end) {
			t.Fatalf("sshd does not listen: %s", log())
		}
	}
	return Machine{Port: port, Key: filepath.Join(dir, "id"), HostKey: filepath.Join(dir, "hostkey.pub")}
}
