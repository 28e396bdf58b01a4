package containerd

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/runner"
)

// To remove a container takes half as long as to make it: runc is started, the
// shim ends, and a helper clears away after it. Nobody needs to wait for that who
// has all that the program said. So the container of a query that has ended is
// handed to the embedded server, which removes it while the client goes on, and
// after that has left. A client that leaves gives the rest of itself too: its
// lock, which is the server's from the first container on. So none of them counts
// as dead while somebody is at work for him, and all do when both have died.

const (
	clearingMost   = 8                     // containers of a client that are being removed behind its back
	lastWordsLimit = 50 * time.Millisecond // for the last that a program said, beyond which is waited as for any other
)

// clearing is what a client has handed to the server to be removed. The zero
// value is ready.
type clearing struct {
	mu     sync.Mutex
	conn   *net.UnixConn   // nil = there is none yet, or it was lost
	open   map[string]*run // by container; they are not answered yet
	lost   []*run          // the server was lost over them, or failed
	spoken bool            // a server has answered
	off    bool            // the server does not know of this
	listen sync.WaitGroup
}

// giveAway hands the container of a query that has ended to the server, and says
// whether it is nothing of this client's any more. All that the program printed
// is there then.
func (u *run) giveAway(ctx context.Context) bool {
	if u.s.Kind != runner.Query || !u.r.embedded || u.warm != nil || u.talk != nil || !u.r.clearing.room() || !u.drained(ctx) {
		return false
	}
	u.away = u.r.clearing.give(u)
	return u.away
}

// drained waits until the shim has written all that the program printed: it
// closes both files then.
func (u *run) drained(ctx context.Context) bool {
	pause := 50 * time.Microsecond
	for end := time.Now().Add(lastWordsLimit); ; pause = min(2*pause, 2*time.Millisecond) {
		if u.io.stdout.unwritten() && u.io.stderr.unwritten() {
			return true
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return false
		}
		time.Sleep(pause)
	}
}

// unwritten reports whether nobody has the file open to write to it: only then the
// kernel gives a lease on it. In doubt somebody has.
func (o *output) unwritten() bool {
	if o.file == nil {
		return false
	}
	if _, err := unix.FcntlInt(o.file.Fd(), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return false
	}
	_, err := unix.FcntlInt(o.file.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	return err == nil
}

// room reports whether another container may be handed over.
func (c *clearing) room() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.off && len(c.open) < clearingMost
}

// give sends a container, and reports whether that is done.
func (c *clearing) give(u *run) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off || len(c.open) >= clearingMost {
		return false
	}
	var owner []*os.File
	if c.conn == nil {
		conn, err := u.r.dialKeeper()
		if err != nil {
			return false // the server is ending, or was killed
		}
		c.conn, owner = conn, []*os.File{u.r.held.file}
		c.listen.Go(func() { c.hear(conn) })
	}
	if c.open == nil {
		c.open = map[string]*run{}
	}
	_ = c.conn.SetDeadline(time.Time{}) // a removal takes its time, and who sends never waits
	if sendKept(c.conn, keepMessage{Finished: &finished{ID: u.id, Snapshotter: u.r.snapshotter}}, owner...) != nil {
		_ = c.conn.Close() // which hear sees
		c.conn = nil
		return false
	}
	c.open[u.id] = u
	return true
}

// hear takes the answers, until there are no more.
func (c *clearing) hear(conn *net.UnixConn) {
	for {
		m, _, _, err := receiveKept(conn)
		c.mu.Lock()
		if err != nil || m.Finished == nil {
			c.lose(conn)
			c.mu.Unlock()
			return
		}
		c.spoken = true
		if u := c.open[m.Finished.ID]; u != nil && m.Failed {
			c.lost = append(c.lost, u)
		}
		delete(c.open, m.Finished.ID)
		c.mu.Unlock()
	}
}

// lose takes down that a connection has ended. It is called with the lock held.
func (c *clearing) lose(conn *net.UnixConn) {
	_ = conn.Close()
	if c.conn == conn {
		c.conn = nil
	}
	c.off = c.off || !c.spoken
	for id, u := range c.open {
		c.lost = append(c.lost, u)
		delete(c.open, id)
	}
}

// leave gives the server the rest of a client that has nothing more to do, if that
// is well, and reports whether it has it: what it still removes, the lease, the
// files and the lock. Else what was not removed is what the client has to do.
func (c *clearing) leave(well bool) (left bool, lost []*run) {
	c.mu.Lock()
	if conn := c.conn; conn != nil {
		left = well && len(c.lost) == 0 && sendKept(conn, keepMessage{Rest: true}) == nil
		_ = conn.Close() // what was sent is there
	}
	c.mu.Unlock()
	c.listen.Wait()
	if left {
		return true, nil
	}
	return false, c.lost
}

// leave gives up what this client has, if the server does it; else it removes what
// the server has not.
func (r *Runtime) leave() (left bool, err error) {
	left, lost := r.clearing.leave(!r.left.Load())
	if left {
		return true, errors.Join(r.client.Close(), r.held.file.Close())
	}
	var errs []error
	for _, u := range lost {
		errs = append(errs, u.remove(context.Background(), nil))
	}
	return false, errors.Join(errs...)
}
