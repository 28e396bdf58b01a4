package reach

import (
	"fmt"
	"strconv"
	"strings"
)

// DefaultDataDir is where a host keeps what deployster needs there.
const DefaultDataDir = "/var/lib/deployster"

// Address says how a host is reached. What is empty is for ssh to know.
type Address struct {
	Address      string   `json:"address"` // a name, an address, or an alias of ssh's config
	User         string   `json:"user,omitempty"`
	Port         int      `json:"port,omitempty"`
	IdentityFile string   `json:"identity_file,omitempty"`
	Jump         string   `json:"jump,omitempty"`     // as for ssh -J
	HostKey      string   `json:"host_key,omitempty"` // lines of public keys; "" = known_hosts must have it
	SSHOptions   []string `json:"ssh_options,omitempty"`
	Sudo         bool     `json:"sudo,omitempty"`
	DataDir      string   `json:"data_dir,omitempty"` // "" = DefaultDataDir
}

// String returns the address for people.
func (a Address) String() string {
	text := a.Address
	if a.User != "" {
		text = a.User + "@" + text
	}
	if a.Port != 0 {
		text += ":" + strconv.Itoa(a.Port)
	}
	return text
}

// Check says what of an address cannot be used.
func (a Address) Check() error {
	for _, part := range []struct{ name, value string }{{"address", a.Address}, {"user", a.User}, {"jump", a.Jump}} {
		if strings.HasPrefix(part.value, "-") || strings.ContainsAny(part.value, " \t\r\n\x00'\"") {
			return fmt.Errorf("the %s %q is none that ssh could use", part.name, part.value)
		}
	}
	if a.Address == "" {
		return fmt.Errorf("the address is empty")
	}
	if a.Port < 0 || a.Port > 65535 {
		return fmt.Errorf("%d is no port", a.Port)
	}
	if dir := a.dataDir(); dir[0] != '/' || strings.Trim(dir, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-") != "" {
		return fmt.Errorf("the data_dir %q is not an absolute path of letters, digits and ._-/", dir)
	}
	return nil
}

func (a Address) dataDir() string {
	if a.DataDir == "" {
		return DefaultDataDir
	}
	return a.DataDir
}

// command returns the arguments of ssh that run a script of POSIX sh there. keys is
// a file of known hosts that has the host's key alone; "" = ssh's own.
func (a Address) command(script, keys string) []string {
	args := []string{"-T", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"}
	args = append(args, a.SSHOptions...)
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
	// The login shell may be any: all of them know this.
	return append(args, "--", a.Address, "exec "+become+"sh -c '"+script+"'")
}

// keyAlias is the name of the host in its file of known hosts.
const keyAlias = "deployster-host"

// knownHosts returns the file of known hosts that has the address's host key.
func (a Address) knownHosts() string {
	var lines strings.Builder
	for line := range strings.Lines(a.HostKey) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			fmt.Fprintf(&lines, "%s %s\n", keyAlias, line)
		}
	}
	return lines.String()
}
