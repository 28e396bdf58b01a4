package agentconn

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"deployster/containerd/agent"
	"deployster/containerd/layout"
)

// acceptEvery is the interval at which Accept checks that the container is still alive.
const acceptEvery = 100 * time.Millisecond

// Accept waits for the agent of a container that was just started, and rejects
// connections from any other process than pid, of which process is a pidfd: Accept closes it
// if it fails. alive reports whether the container is still alive.
func Accept(l *net.UnixListener, process, pid int, limit time.Duration, alive func() bool) (a *Conn, err error) {
	a = &Conn{Process: process}
	defer func() {
		if err != nil {
			a, err = nil, errors.Join(err, a.Close())
		}
	}()
	for end := time.Now().Add(limit); a.UnixConn == nil; {
		if err := l.SetDeadline(time.Now().Add(acceptEvery)); err != nil {
			return a, err
		}
		conn, err := l.AcceptUnix()
		switch {
		case err == nil:
			if peer, err := layout.Peer(conn); err == nil && peer.Pid == int32(pid) {
				a.UnixConn = conn
				break
			}
			_ = conn.Close() // another process
		case !errors.Is(err, os.ErrDeadlineExceeded) || time.Now().After(end) || !alive():
			return a, fmt.Errorf("its agent did not start: %w", err)
		}
	}
	if err := a.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return a, err
	}
	if said, err := a.Reply(); err != nil || said != (agent.Reply{Kind: agent.Ready, Value: agent.Layout}) {
		return a, errors.Join(errors.New("its agent is another one"), err)
	}
	return a, nil
}
