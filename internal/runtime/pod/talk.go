package pod

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Talk connects in and out to the agent that listens at a socket, until one of them ends. pid is that
// of the agent: a program in the container may have put a socket of its own in place of the agent's.
// 0 = any. The agent may be starting.
func Talk(socket string, pid int, patience time.Duration, in io.Reader, out io.Writer) error {
	limit := time.Now().Add(patience)
	conn, err := dial(socket)
	for ; err != nil; conn, err = dial(socket) {
		if time.Now().After(limit) {
			return fmt.Errorf("the agent of the Pod does not answer: %w", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	defer conn.Close()
	peer, err := credentials(conn)
	switch {
	case err != nil:
		return err
	case int(peer.Uid) != os.Geteuid():
		return fmt.Errorf("the process at %s is of the user %d", socket, peer.Uid)
	case pid != 0 && int(peer.Pid) != pid:
		return fmt.Errorf("the process at %s is %d, and the agent is %d", socket, peer.Pid, pid)
	}
	go func() {
		_, _ = io.Copy(conn, in) // the agent learns that the client has left
		endOfInput(conn)
	}()
	_, err = io.Copy(out, conn)
	return err
}

// Copy copies this program into a directory that another container of the Pod sees.
func Copy(dir string) (err error) {
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(filepath.Join(dir, "deployster-pod"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Chmod(0o755), to.Close())
}
