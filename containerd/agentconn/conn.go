package agentconn

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
)

// Conn is the connection to the agent in a container. Its messages come from inside
// the container: they are trusted no more than the image itself.
type Conn struct {
	*net.UnixConn
	Process int // a pidfd
}

// sendLimit is how long an agent may take to read a request.
const sendLimit = time.Minute

// Listen creates the socket for the agent of a container. Its path may be too long
// for a socket address, so Listen addresses it through its open directory.
func Listen(dir string) (l *net.UnixListener, path string, err error) {
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

// ErrUnsent reports that nothing of a request was sent.
var ErrUnsent = errors.New("the request was not sent")

// Request sends a request with its files. The error wraps ErrUnsent if nothing of it was sent.
func (a *Conn) Request(b []byte, files ...int) error {
	err := a.SetDeadline(time.Now().Add(sendLimit))
	n := 0
	if err == nil {
		n, _, err = a.WriteMsgUnix(b, unix.UnixRights(files...), nil)
	}
	switch {
	case err != nil && n <= 0:
		return fmt.Errorf("%w: %w", ErrUnsent, err)
	case err == nil && n < len(b):
		_, err = a.Write(b[n:])
	}
	return err
}

// Reply waits for the next message of the agent. The kernel drops files that are sent
// along.
func (a *Conn) Reply() (agent.Reply, error) {
	b := make([]byte, agent.ReplySize)
	if _, err := io.ReadFull(a.UnixConn, b); err != nil {
		return agent.Reply{}, err
	}
	return agent.DecodeReply(b)
}

// Kill ends the agent, and with it everything that runs in its container.
func (a *Conn) Kill() { _ = unix.PidfdSendSignal(a.Process, unix.SIGKILL, nil, 0) } // it may have ended

// AwaitEnd waits for the end of the agent, and reports whether it has ended: then everything in its container has.
func (a *Conn) AwaitEnd(limit time.Duration) bool {
	end := time.Now().Add(limit)
	for {
		left := max(0, time.Until(end))
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(a.Process), Events: unix.POLLIN}}, int(left.Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n > 0
		}
	}
}

// Close closes the connection, whereupon the agent ends.
func (a *Conn) Close() error {
	err := unix.Close(a.Process)
	if a.UnixConn != nil {
		err = errors.Join(err, a.UnixConn.Close())
	}
	return err
}
