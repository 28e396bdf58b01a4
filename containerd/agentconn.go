package containerd

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd/agent"
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

// agentConn is the connection to the agent in a container. Its messages come from inside
// the container: they are trusted no more than the image itself.
type agentConn struct {
	*net.UnixConn
	process int // a pidfd
}

// listenAgent creates the socket for the agent of a container. Its path may be too long
// for a socket address, so listenAgent addresses it through its open directory.
func listenAgent(dir string) (l *net.UnixListener, path string, err error) {
	path = filepath.Join(dir, "agent")
	at, err := os.Open(dir)
	if err != nil {
		return nil, "", err
	}
	defer at.Close()
	l, err = net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("/proc/self/fd/%d/agent", at.Fd())})
	if err != nil {
		return nil, "", err
	}
	l.SetUnlinkOnClose(false) // it is removed with its directory
	// The container's user connects to it; no other user can reach the directory.
	if err := os.Chmod(path, 0o666); err != nil {
		return nil, "", errors.Join(err, l.Close())
	}
	return l, path, nil
}

// acceptAgent waits for the agent of a container that was just started, and rejects
// connections from any other process.
func (w *sharedContainer) acceptAgent(l *net.UnixListener) (err error) {
	process, err := w.open(int(w.pid))
	if err != nil {
		return err
	}
	a := &agentConn{process: process}
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
			if peer, err := layout.Peer(conn); err == nil && peer.Pid == int32(w.pid) {
				a.UnixConn = conn
				break
			}
			_ = conn.Close() // another process
		case !errors.Is(err, os.ErrDeadlineExceeded) || time.Now().After(end) || !w.waits():
			return fmt.Errorf("its agent did not begin: %w", err)
		}
	}
	if err := a.SetReadDeadline(time.Now().Add(setupLimit)); err != nil {
		return err
	}
	if said, err := a.reply(); err != nil || said != (agent.Reply{Kind: agent.Ready, Value: agent.Layout}) {
		return errors.Join(errors.New("its agent is another one"), err)
	}
	w.agent = a
	return nil
}

// agentEvery is the interval at which acceptAgent checks that the container is still alive.
const agentEvery = 100 * time.Millisecond

// request sends a request with its files.
func (a *agentConn) request(b []byte, files ...int) error {
	if err := a.SetDeadline(time.Now().Add(setupLimit)); err != nil {
		return err
	}
	n, _, err := a.WriteMsgUnix(b, unix.UnixRights(files...), nil)
	if err == nil && n < len(b) {
		_, err = a.Write(b[n:])
	}
	return err
}

// reply waits for the next message of the agent. The kernel drops files that are sent
// along.
func (a *agentConn) reply() (agent.Reply, error) {
	b := make([]byte, agent.ReplySize)
	if _, err := io.ReadFull(a.UnixConn, b); err != nil {
		return agent.Reply{}, err
	}
	return agent.DecodeReply(b)
}

// kill ends the agent, and with it everything that runs in its container.
func (a *agentConn) kill() { _ = unix.PidfdSendSignal(a.process, unix.SIGKILL, nil, 0) } // it may have ended

// Close closes the connection, whereupon the agent ends.
func (a *agentConn) Close() error {
	err := unix.Close(a.process)
	if a.UnixConn != nil {
		err = errors.Join(err, a.UnixConn.Close())
	}
	return err
}

// agentName is the program beside the executable that starts programs in the containers
// that queries share.
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

// agentFile returns the path of the agent's program for containers: a copy that all users
// can run, which stays the same when the program beside the executable is replaced. Each
// layout of the protocol has its own copy, for clients of two versions.
func (r *Runtime) agentFile(program string) (string, error) {
	target := filepath.Join(r.programDir(), fmt.Sprintf("%s-%d", agentName, agent.Layout))
	return target, layout.InstallProgram(target, program)
}

// programDir returns the directory of the programs that are mounted into containers.
func (r *Runtime) programDir() string {
	if r.conn.Embedded {
		return r.conn.Config.Bin()
	}
	return r.conn.Config.RuntimeDir
}
