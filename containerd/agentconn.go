package containerd

import "deployster/containerd/agentconn"

// The paths of the agent in a container, and of the socket on which it connects to its
// client. In /dev they are not among the image's files.
const (
	agentPath   = "/dev/.deployster-agent"
	agentSocket = agentPath + ".sock"
)

// What an agent uses of its container's limits, which are raised by as much: 1.4 MiB and
// 6 threads were measured.
const (
	agentMemory  = 2 << 20
	agentThreads = 8
)

// agentFile returns the path of the agent's program for containers.
func (r *Runtime) agentFile(program string) (string, error) {
	return agentconn.Install(r.programDir(), program)
}

// programDir returns the directory of the programs that are mounted into containers.
func (r *Runtime) programDir() string {
	if r.conn.Embedded {
		return r.conn.Config.Bin()
	}
	return r.conn.Config.RuntimeDir
}
