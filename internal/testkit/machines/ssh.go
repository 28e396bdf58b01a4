package machines

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// SSHConfig returns what an ssh_config says of the machine.
func (m *Machine) SSHConfig() string {
	return fmt.Sprintf("Host %s\n  HostName %s\n  Port %s\n  User root\n  IdentityFile %s\n  IdentitiesOnly yes\n  UserKnownHostsFile %s\n"+
		"  KexAlgorithms curve25519-sha256\n", m.Name, m.Address, m.Port, m.Key, filepath.Join(m.home, "known_hosts"))
}

// SSHFile returns the file of the machine's own ssh_config.
func (m *Machine) SSHFile() string { return filepath.Join(m.home, "ssh_config") }

func (m *Machine) writeSSH() error {
	known := fmt.Sprintf("[%s]:%s %s\n", m.Address, m.Port, m.HostKey)
	if err := os.WriteFile(filepath.Join(m.home, "known_hosts"), []byte(known), 0o600); err != nil {
		return err
	}
	return os.WriteFile(m.SSHFile(), []byte(m.SSHConfig()), 0o600)
}

// SSH returns a command that runs a program in the machine, by its sshd.
func (m *Machine) SSH(args ...string) *exec.Cmd {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return exec.Command("ssh", "-F", m.SSHFile(), "-o", "BatchMode=yes", m.Name, strings.Join(quoted, " "))
}
