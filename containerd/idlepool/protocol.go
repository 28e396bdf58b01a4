package idlepool

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/containerd/containerd/v2/core/mount"
	"golang.org/x/sys/unix"
)

// A worker that has nothing to do when its command ends is handed over to the
// server, which keeps it for a while, for the next command that wants the same.
// Two open files are all that it takes to own one: the end of its stdin that is
// written to, and the lock of the client that its container is labelled with.
// Both are sent in one message, and belong to whoever has it: there is no moment
// with two owners. When all who had them are dead the kernel closes them; then
// the worker ends, as its stdin has, and its container is swept.

// Format is raised when the messages, or what is meant by them, change.
const Format = 3

const (
	maxMessage   = 64 << 10        // bytes of a message
	messageLimit = 2 * time.Second // for the other side
)

// Worker is what is to be known of a worker beside its files.
type Worker struct {
	Key    string        `json:"key"`    // of all that could take its place: see poolKey
	ID     string        `json:"id"`     // of its container
	Pid    uint32        `json:"pid"`    // of its first process
	Asked  int64         `json:"asked"`  // the highest number that a request had
	Rootfs []mount.Mount `json:"rootfs"` // of its container
	Disk   int64         `json:"disk"`   // bytes that its own files may have
	Grace  time.Duration `json:"grace"`  // that it gets to end
	Idle   time.Duration `json:"idle"`   // for which it is to be kept
}

// Message is a request: with a worker it gives that, with its files; else it
// asks for one with the key. The answer is one too; without a worker there is none.
type Message struct {
	Format int     `json:"format"`
	Key    string  `json:"key,omitempty"`
	Worker *Worker `json:"worker,omitempty"`
}

// Send sends a message whole, with its files, or not at all.
func Send(c *net.UnixConn, m Message, files ...*os.File) error {
	m.Format = Format
	content, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(content) > maxMessage {
		return fmt.Errorf("a message of %d bytes is too long", len(content))
	}
	var rights []byte
	if len(files) > 0 {
		var numbers []int
		for _, f := range files {
			raw, err := f.SyscallConn()
			if err == nil {
				err = raw.Control(func(fd uintptr) { numbers = append(numbers, int(fd)) })
			}
			if err != nil {
				return err
			}
		}
		rights = unix.UnixRights(numbers...)
	}
	_, _, err = c.WriteMsgUnix(content, rights, nil)
	return err
}

// Receive receives a message: with a worker there are two files, that of its
// stdin and that of its owner's lock, and otherwise none.
func Receive(c *net.UnixConn) (m Message, stdin, lock *os.File, err error) {
	content, rights := make([]byte, maxMessage), make([]byte, unix.CmsgSpace(2*4))
	n, rn, flags, _, err := c.ReadMsgUnix(content, rights)
	if err != nil {
		return m, nil, nil, err
	}
	var files []*os.File
	messages, err := unix.ParseSocketControlMessage(rights[:rn])
	for i := range messages {
		numbers, nerr := unix.ParseUnixRights(&messages[i])
		err = errors.Join(err, nerr)
		for _, fd := range numbers {
			files = append(files, os.NewFile(uintptr(fd), "handed over"))
		}
	}
	if err == nil {
		err = json.Unmarshal(content[:n], &m)
	}
	want := 0
	if m.Worker != nil {
		want = 2
	}
	switch {
	case err != nil:
	case flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 || len(files) != want || m.Format != Format:
		err = errors.New("a message of another kind")
	case want == 2:
		return m, files[0], files[1], nil
	default:
		return m, nil, nil, nil
	}
	for _, f := range files {
		_ = f.Close() // what it was for is not known
	}
	return m, nil, nil, err
}

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
