package ssh

import (
	"fmt"
	"strconv"
	"strings"

	"deployster/internal/runtime/runner"
)

// commandOf returns the arguments of ssh that run a script of POSIX sh on a host. keys is
// the path of a known_hosts file that has only the host's key; "" = ssh uses its own files. fresh: the
// connection is a new one, with a login of its own, whatever else is configured.
func commandOf(a runner.Host, script, keys string, fresh bool) []string {
	args := []string{"-T", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"}
	if fresh { // of options that are given twice, ssh takes the first
		args = append(args, "-o", "ControlMaster=no", "-o", "ControlPath=none")
	}
	args = append(args, a.SSHOptions...)
	if fresh { // but of -S the last
		args = append(args, "-S", "none")
	}
	if keys != "" {
		args = append(args, "-o", "UserKnownHostsFile="+keys, "-o", "GlobalKnownHostsFile=/dev/null", "-o", "HostKeyAlias="+keyAlias)
	}
	args = append(args, "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3")
	for _, option := range []struct{ flag, value string }{{"-l", a.User}, {"-i", a.IdentityFile}, {"-J", a.Jump}} {
		if option.value != "" {
			args = append(args, option.flag, option.value)
		}
	}
	if a.Port != 0 {
		args = append(args, "-p", strconv.Itoa(a.Port))
	}
	become := ""
	if a.Sudo {
		become = "sudo -n "
	}
	// The login shell may be any: all of them understand this line.
	return append(args, "--", a.Address, "exec "+become+"sh -c '"+script+"'")
}

// keyAlias is the name of the host in the known_hosts file that knownHosts returns.
const keyAlias = "deployster-host"

// knownHosts returns the content of a known_hosts file that has only the host's key.
func knownHosts(a runner.Host) string {
	var lines strings.Builder
	for line := range strings.Lines(a.HostKey) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			fmt.Fprintf(&lines, "%s %s\n", keyAlias, line)
		}
	}
	return lines.String()
}
