package agentconn

import (
	"fmt"
	"path/filepath"

	"deployster/containerd/agent"
	"deployster/containerd/layout"
	"deployster/internal/base/programs"
)

// AgentName is the program next to the executable that starts programs in the containers
// that queries share.
const AgentName = "deployster-agent"

// Find returns the path of the installed agent program, "" = there is none.
func Find() string { return programs.Find(AgentName) }

// Install returns the path of the agent's program for containers: a copy that all users
// can run, which stays the same when the program of the installation is replaced. Each
// layout of the protocol has its own copy, for clients of two versions.
func Install(dir, program string) (string, error) {
	target := filepath.Join(dir, fmt.Sprintf("%s-%d", AgentName, agent.Layout))
	return target, layout.InstallProgram(target, program)
}
