package sdnotify

import (
	"fmt"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Notifier tells one systemd. The zero value tells nobody.
type Notifier struct{ socket string }

// New returns a notifier for what NOTIFY_SOCKET holds.
func New(socket string) Notifier {
	if strings.HasPrefix(socket, "@") {
		socket = "\x00" + socket[1:] // an abstract one
	}
	return Notifier{socket}
}

// Ready says that the service does what it is there for, or does again, and how it is: one
// message, so that nobody sees the one without the other.
func (n Notifier) Ready(status string) { n.send("READY=1\n" + line(status)) }

// Reloading says that the service reads its configuration anew, until it is ready.
func (n Notifier) Reloading() {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // never fails on Linux
	n.send(fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d", now.Nano()/int64(time.Microsecond)))
}

// Alive says that the service is not stuck, and how it is.
func (n Notifier) Alive(status string) { n.send("WATCHDOG=1\n" + line(status)) }

// Stopping says that the service ends.
func (n Notifier) Stopping() { n.send("STOPPING=1") }

func line(status string) string { return "STATUS=" + strings.ReplaceAll(status, "\n", " ") }

// send sends a message. Who does not listen misses it.
func (n Notifier) send(message string) {
	if n.socket == "" {
		return
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.socket, Net: "unixgram"})
	if err != nil {
		return
	}
	_ = c.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = c.Write([]byte(message))
	_ = c.Close()
}
