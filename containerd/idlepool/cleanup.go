package idlepool

import (
	"net"
	"os"
	"sync"
	"time"
)

// To remove a container takes half as long as to make it: runc is started, the
// shim ends, and a helper clears away after it. Nobody needs to wait for that who
// has all that the program said. So the container of a query that has ended is
// handed to the embedded server, which removes it while the client goes on, and
// after that has left. A client that leaves gives the rest of itself too: its
// lock, which is the server's from the first container on. So none of them counts
// as dead while somebody is at work for him, and all do when both have died.

const (
	maxCleanups = 8 // containers of a client that are being removed behind its back
)

// Cleanup is what a client has handed to the server to be removed.
type Cleanup struct {
	pool Client
	lock *os.File // of the client

	mu          sync.Mutex
	conn        *net.UnixConn       // nil = there is none yet, or it was lost
	open        map[string]Finished // by container; they are not answered yet
	lost        []Finished          // the server was lost over them, or failed
	answered    bool                // a server has answered
	unsupported bool                // the server does not know of this
	handed      int                 // how many it was given
	listen      sync.WaitGroup
}

// NewCleanup begins with nothing.
func NewCleanup(pool Client, lock *os.File) *Cleanup {
	return &Cleanup{pool: pool, lock: lock, open: map[string]Finished{}}
}

// HasRoom reports whether another container may be handed over.
func (c *Cleanup) HasRoom() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.unsupported && len(c.open) < maxCleanups
}

// Give sends a container, and reports whether that is done.
func (c *Cleanup) Give(f Finished) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unsupported || len(c.open) >= maxCleanups {
		return false
	}
	var owner []*os.File
	if c.conn == nil {
		conn, err := c.pool.dial()
		if err != nil {
			return false // the server is ending, or was killed
		}
		c.conn, owner = conn, []*os.File{c.lock}
		c.listen.Go(func() { c.handleReplies(conn) })
	}
	_ = c.conn.SetDeadline(time.Time{}) // a removal takes its time, and who sends never waits
	if Send(c.conn, Message{Finished: &f}, owner...) != nil {
		_ = c.conn.Close() // which hear sees
		c.conn = nil
		return false
	}
	c.open[f.ID] = f
	c.handed++
	return true
}

// handleReplies takes the answers, until there are no more.
func (c *Cleanup) handleReplies(conn *net.UnixConn) {
	for {
		m, _, _, err := Receive(conn)
		c.mu.Lock()
		if err != nil || m.Finished == nil {
			c.dropConnection(conn)
			c.mu.Unlock()
			return
		}
		c.answered = true
		if f, ours := c.open[m.Finished.ID]; ours && m.Failed {
			c.lost = append(c.lost, f)
		}
		delete(c.open, m.Finished.ID)
		c.mu.Unlock()
	}
}

// dropConnection takes down that a connection has ended. It is called with the lock held.
func (c *Cleanup) dropConnection(conn *net.UnixConn) {
	_ = conn.Close()
	if c.conn == conn {
		c.conn = nil
	}
	c.unsupported = c.unsupported || !c.answered
	for id, f := range c.open {
		c.lost = append(c.lost, f)
		delete(c.open, id)
	}
}

// Close ends the connection. Without a word before, the server takes the client
// for dead: it removes what it was given, and the rest is swept.
func (c *Cleanup) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		_ = c.conn.Close() // what was sent is there
	}
}

// Count is how many containers the server was given.
func (c *Cleanup) Count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.handed
}

// Leave gives the server the rest of a client that has nothing more to do, if that
// is well, and reports whether it has it: what it still removes, the lease, the
// files and the lock. Else what was not removed is what the client has to do.
func (c *Cleanup) Leave(well bool) (left bool, lost []Finished) {
	c.mu.Lock()
	if c.conn != nil {
		left = well && len(c.lost) == 0 && Send(c.conn, Message{Rest: true}) == nil
	}
	c.mu.Unlock()
	c.Close()
	c.listen.Wait()
	if left {
		return true, nil
	}
	return false, c.lost
}
