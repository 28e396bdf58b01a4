package containerd

import (
	"fmt"
	"os"
	"path/filepath"

	"deployster/containerd/agent"
	"deployster/containerd/layout"
)

// agentName is the program beside the executable that starts programs in the
// containers that queries share.
const agentName = "deployster-agent"

// findAgent returns the agent's program beside an executable, "" = none.
func findAgent() string {
	real, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return ""
	}
	path := filepath.Join(filepath.Dir(real), agentName)
	if !layout.Exists(path) {
		return ""
	}
	return path
}

// agentFile returns the agent's program for containers: a copy for all users to run,
// which stays what it is when the one beside the executable is replaced. Each
// layout has its own, for clients of two versions.
func (r *Runtime) agentFile(program string) (string, error) {
	target := filepath.Join(r.programDir(), fmt.Sprintf("%s-%d", agentName, agent.Layout))
	have, err := os.Stat(program)
	if err != nil {
		return "", err
	}
	if layout.IsInstalled(target, have) {
		return target, nil
	}
	return target, layout.InstallProgram(target, program)
}

// programDir is where programs lie that containers are given.
func (r *Runtime) programDir() string {
	if r.conn.Embedded {
		return r.conn.Config.Bin()
	}
	return r.conn.Config.RuntimeDir
}
