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

// Where a container has its agent, and the socket on which that finds its client.
// In /dev they are not among the image's files.
const (
	agentPath   = "/dev/.deployster-agent"
	agentSocket = agentPath + ".sock"
)

// What an agent takes of its container's limits, which are made larger by that:
// measured were 1.4 MiB more than without it, and 6 threads.
const (
	agentMemory  = 2 << 20
	agentThreads = 8
)

// agentConn is the connection to the agent in a container. What it says comes
// from inside: nothing of it is believed that an image could not say of itself.
type agentConn struct {
	*net.UnixConn
	process int // a pidfd
}

// listenAgent makes the socket for the agent of a container. Its path may be too
// long for an address, so it is made by way of its directory.
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
	l.SetUnlinkOnClose(false) // it goes with its directory
	// The container's user connects to it; nobody else gets to the directory.
	if err := os.Chmod(path, 0o666); err != nil {
		return nil, "", errors.Join(err, l.Close())
	}
	return l, path, nil
}

// acceptAgent waits for the agent of a container that was just started, and takes
// nobody else for it.
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
			_ = conn.Close() // whoever it is
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

// agentEvery is how often it is looked whether an agent that does not come lives.
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

// reply waits for what the agent says next. Files that come with it are dropped
// by the kernel.
func (a *agentConn) reply() (agent.Reply, error) {
	b := make([]byte, agent.ReplySize)
	if _, err := io.ReadFull(a.UnixConn, b); err != nil {
		return agent.Reply{}, err
	}
	return agent.DecodeReply(b)
}

// kill ends the agent, and with it all that runs in its container.
func (a *agentConn) kill() { _ = unix.PidfdSendSignal(a.process, unix.SIGKILL, nil, 0) } // it may have ended

// Close gives up the connection, at which the agent ends.
func (a *agentConn) Close() error {
	err := unix.Close(a.process)
	if a.UnixConn != nil {
		err = errors.Join(err, a.UnixConn.Close())
	}
	return err
}

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
	return target, layout.InstallProgram(target, program)
}

// programDir is where programs lie that containers are given.
func (r *Runtime) programDir() string {
	if r.conn.Embedded {
		return r.conn.Config.Bin()
	}
	return r.conn.Config.RuntimeDir
}
