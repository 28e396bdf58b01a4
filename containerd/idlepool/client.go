package idlepool

import (
	"net"
	"os"
	"time"
)

// Client is the idle pool as its clients see it.
type Client struct{ socket string }

// NewClient speaks to the pool that listens at a socket.
func NewClient(socket string) Client { return Client{socket} }

func (p Client) dial() (*net.UnixConn, error) {
	c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: p.socket, Net: "unixpacket"})
	if err != nil {
		return nil, err
	}
	return c, c.SetDeadline(time.Now().Add(messageLimit))
}

// Put gives a worker with its two files to the server, and reports whether it
// has it now: then it is nothing of this client's any more, whatever becomes of the
// server.
func (p Client) Put(w Worker, input, lock *os.File) bool {
	c, err := p.dial()
	if err != nil {
		return false // an older server, or one that is ending
	}
	defer c.Close()
	if Send(c, Message{Worker: &w}, input, lock) != nil {
		return false
	}
	// It has been sent, and there is no way back. The answer says that the next
	// command will find it.
	_, _, _, _ = Receive(c)
	return true
}

// Take asks for a worker with a key, and gives it with its two files; nil = there
// is none.
func (p Client) Take(key string) (w *Worker, input, lock *os.File) {
	c, err := p.dial()
	if err != nil {
		return nil, nil, nil
	}
	defer c.Close()
	var m Message
	if err = Send(c, Message{Key: key}); err == nil {
		m, input, lock, err = Receive(c)
	}
	if err != nil || m.Worker == nil {
		return nil, nil, nil
	}
	return m.Worker, input, lock
}
