package containerd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"deployster/containerd/agent"
)

// agentName is the program beside the executable that starts programs in the
// containers that queries share.
const agentName = "deployster-agent"

// findAgent gives the agent's program beside an executable, "" = none.
func findAgent() string {
	real, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return ""
	}
	path := filepath.Join(filepath.Dir(real), agentName)
	if !exists(path) {
		return ""
	}
	return path
}

// agentFile gives the agent's program for containers: a copy for all users to run,
// which stays what it is when the one beside the executable is replaced. Each
// layout has its own, for clients of two versions.
func (r *Runtime) agentFile(program string) (string, error) {
	target := filepath.Join(r.programDir(), fmt.Sprintf("%s-%d", agentName, agent.Layout))
	have, err := os.Stat(program)
	if err != nil {
		return "", err
	}
	if there, err := os.Stat(target); err == nil && there.Size() == have.Size() && there.ModTime().Equal(have.ModTime()) {
		return target, nil
	}
	// Another client may do the same at the same time.
	tmp := target + "." + r.id
	if err := copyExecutable(tmp, program, have); err != nil {
		return "", errors.Join(err, os.Remove(tmp))
	}
	if err := errors.Join(os.Chmod(tmp, 0o755), os.Rename(tmp, target)); err != nil {
		return "", errors.Join(err, os.Remove(tmp))
	}
	return target, nil
}

// programDir is where programs lie that containers are given.
func (r *Runtime) programDir() string {
	if r.embedded {
		return r.server.bin()
	}
	return r.runtimeDir
}
