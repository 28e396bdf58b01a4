package containerd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"deployster/containerd/agent"
	"deployster/containerd/agentconn"
	"deployster/containerd/layout"
)

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

// acceptAgent waits for the agent of a container that was just started, and rejects
// connections from any other process.
func (w *sharedContainer) acceptAgent(l *net.UnixListener) (err error) {
	process, err := w.container.open(int(w.container.pid))
	if err != nil {
		return err
	}
	a := &agentconn.Conn{Process: process}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	for end := time.Now().Add(setupLimit); a.UnixConn == nil; {
		if err := l.SetDeadline(time.Now().Add(agentEvery)); err != nil {
			return err
		}
		conn, err := l.AcceptUnix()
		switch {
		case err == nil:
			if peer, err := layout.Peer(conn); err == nil && peer.Pid == int32(w.container.pid) {
				a.UnixConn = conn
				break
			}
			_ = conn.Close() // another process
		case !errors.Is(err, os.ErrDeadlineExceeded) || time.Now().After(end) || !w.waits():
			return fmt.Errorf("its agent did not start: %w", err)
		}
	}
	if err := a.SetReadDeadline(time.Now().Add(setupLimit)); err != nil {
		return err
	}
	if said, err := a.Reply(); err != nil || said != (agent.Reply{Kind: agent.Ready, Value: agent.Layout}) {
		return errors.Join(errors.New("its agent is another one"), err)
	}
	w.agent = a
	return nil
}

// agentEvery is the interval at which acceptAgent checks that the container is still alive.
const agentEvery = 100 * time.Millisecond

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
