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

// A worker that is idle when its command ends is handed over to the server, which keeps
// it for a while, for the next command that needs one like it. Whoever has two open files
// owns a worker: the write end of its stdin, and the lock of the client in the labels of
// its container. Both are sent in one message, and belong to whoever has the message: the
// worker never has two owners. When all processes that had them are dead, the kernel
// closes the files; then the worker ends, because its stdin has ended, and its container
// is swept.

// Format is raised when the messages, or their meaning, change.
const Format = 3

const (
	maxMessage   = 64 << 10        // maximum length of a message, in bytes
	messageLimit = 2 * time.Second // to wait for the other side
)

// Worker has what must be known of a worker besides its files.
type Worker struct {
	Key    string        `json:"key"`    // shared by all workers that can replace it: see poolKey
	ID     string        `json:"id"`     // of its container
	Pid    uint32        `json:"pid"`    // of its first process
	Asked  int64         `json:"asked"`  // the highest number of a request so far
	Rootfs []mount.Mount `json:"rootfs"` // of its container
	Disk   int64         `json:"disk"`   // bytes that its own files may have
	Grace  time.Duration `json:"grace"`  // that it gets to end itself
	Idle   time.Duration `json:"idle"`   // how long to keep it
}

// Message is a request or an answer. A request with a worker hands that over, with its files; one
// without requests a worker with the key. An answer without a worker means that there is none.
type Message struct {
	Format int     `json:"format"`
	Key    string  `json:"key,omitempty"`
	Worker *Worker `json:"worker,omitempty"`
}

// Send sends a message with its files, completely or not at all.
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

// Receive receives a message. With a worker it has two files, that of the worker's
// stdin and that of its owner's lock; otherwise it has none.
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
		err = errors.New("an unexpected message")
	case want == 2:
		return m, files[0], files[1], nil
	default:
		return m, nil, nil, nil
	}
	for _, f := range files {
		_ = f.Close() // their purpose is unknown
	}
	return m, nil, nil, err
}

// Client is a client of the idle pool.
type Client struct{ socket string }

// NewClient returns a client of the pool that listens at a socket.
func NewClient(socket string) Client { return Client{socket} }

func (p Client) dial() (*net.UnixConn, error) {
	c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: p.socket, Net: "unixpacket"})
	if err != nil {
		return nil, err
	}
	return c, c.SetDeadline(time.Now().Add(messageLimit))
}

// Put hands a worker with its two files over to the server, and reports whether the
// server has it now: then this client does not hold it any more, whatever happens to the
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
	// The message was sent, and cannot be undone. The answer reports that the next command
	// will find the worker.
	_, _, _, _ = Receive(c)
	return true
}

// Take takes a worker with a key from the server, with its two files; nil = there is
// none.
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
