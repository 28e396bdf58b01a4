package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"deployster/containerd/failure"
	"deployster/containerd/layout"
	"deployster/internal/base/diag"
	"deployster/internal/base/proc"
)

func errNotRoot() error {
	return diag.Errorf("Not enough rights to run containers",
		"Deployster starts its own containerd, which needs root. Run it as root (for example with sudo), or name a running containerd "+
			"that you may use: -containerd-address SOCKET, or CONTAINERD_ADDRESS in the environment.")
}

func errNoDaemon(address string, cause error) error {
	return diag.Because(cause, "There is no containerd at "+address,
		"%s. Start the daemon there, give the address of one that runs (-containerd-address SOCKET or CONTAINERD_ADDRESS; usually "+
			"/run/containerd/containerd.sock), or none: then deployster starts its own.", failure.Sentence(cause))
}

func errBadAddress(address, why string) error {
	return diag.Errorf("The containerd address is not usable",
		"%q %s. It must be the absolute path of containerd's unix socket, for example /run/containerd/containerd.sock.", address, why)
}

func errNoAnswer(address string, cause error) error {
	return diag.Because(cause, "What listens at "+address+" is not a containerd",
		"%s. Check that -containerd-address (or CONTAINERD_ADDRESS) is the socket of a containerd daemon that "+
			"works.", failure.Sentence(cause))
}

func errNoRunc(looked []string) error {
	return diag.Errorf("There is no runc on this machine",
		"It is the program that makes containers. Searched: %s. Install runc %s, put it into the directory of deployster, or name it in "+
			"DEPLOYSTER_RUNC.", strings.Join(looked, ", "), runcMinimum)
}

func errNamedRunc(path string) error {
	return diag.Errorf("The chosen runc does not exist",
		"DEPLOYSTER_RUNC names %s, which is not a program. Correct it, or omit it: then the runc that is installed with deployster "+
			"or on PATH is used.", path)
}

func errOldRunc(found []string) error {
	return diag.Errorf("The runc of this machine is too old",
		"Found %s. Older versions than %s let a hostile image take over the host. Install a newer one, put it into the directory "+
			"of deployster, or name it in DEPLOYSTER_RUNC; DEPLOYSTER_ALLOW_OLD_RUNC=1 takes the risk.", strings.Join(found,
			", "), runcMinimum)
}

func warnOldRunc(path, version, owner string) *diag.Diagnostic {
	return diag.Warningf("An old runc runs the containers",
		"%s is version %s%s. Older versions than %s let a hostile image take over the host: run only images that you trust, and update it.",
		path, version, owner, runcMinimum)
}

func errOwned(dir, owner string) error {
	return diag.Errorf("The data directory "+dir+" belongs to another containerd",
		"Its owner is %s. Wait until that has ended, or choose another directory with DEPLOYSTER_DATA_DIR.", owner)
}

func errServer(c layout.Config, why string) error {
	return diag.Errorf("The embedded containerd did not start",
		"%s.\nThe end of its log, %s:\n%s", strings.TrimSuffix(why, "."), c.LogFile(), LastLines(c.LogFile(), 10))
}

// errStuck is the error for an embedded server that accepts connections but does not answer.
func errStuck(c layout.Config, cause error) error {
	pid := c.OwnerPID()
	state, advice := "", "Check what it does"
	if proc.Of(pid).Letter == 'T' {
		state, advice = ", which is stopped", fmt.Sprintf("Resume it with `kill -CONT %d`", pid)
	}
	return diag.Because(cause, "The embedded containerd does not answer",
		"It is process %d%s: %s. %s, or end it with `kill -KILL %d`: the next command starts another, and containers continue. Its log "+
			"is %s.",
		pid, state, failure.Sentence(cause), advice, pid, c.LogFile())
}

// checkAddress returns an error for an invalid address of a daemon, before the caller
// waits for an answer from it.
func checkAddress(address string) (path string, err error) {
	path = strings.TrimPrefix(address, "unix://")
	if !filepath.IsAbs(path) {
		return "", errBadAddress(address, "is not an absolute path")
	}
	i, err := os.Stat(path)
	switch {
	case err != nil:
		return "", errNoDaemon(address, err)
	case i.Mode().Type() != os.ModeSocket:
		return "", errBadAddress(address, "is not a socket")
	}
	return path, nil
}

// LastLines returns the end of a log, indented.
func LastLines(path string, n int) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return "  (" + err.Error() + ")"
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	lines = lines[max(0, len(lines)-n):]
	return "  " + strings.Join(lines, "\n  ")
}
