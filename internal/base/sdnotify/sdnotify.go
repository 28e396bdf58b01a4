package sdnotify

import (
	"fmt"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Notifier sends messages to systemd. The zero value sends none.
type Notifier struct{ socket string }

// New returns a notifier for the value of NOTIFY_SOCKET.
func New(socket string) Notifier {
	if strings.HasPrefix(socket, "@") {
		socket = "\x00" + socket[1:] // an abstract socket
	}
	return Notifier{socket}
}

// Ready reports that the service is ready, or is ready again, with its status: in one
// message, so that nobody sees the one without the other.
func (n Notifier) Ready(status string) { n.send("READY=1\n" + line(status)) }

// Reloading reports that the service reloads its configuration, until Ready.
func (n Notifier) Reloading() {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // never fails on Linux
	n.send(fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d", now.Nano()/int64(time.Microsecond)))
}

// Alive reports that the service is not stuck, with its status.
func (n Notifier) Alive(status string) { n.send("WATCHDOG=1\n" + line(status)) }

// Stopping reports that the service stops.
func (n Notifier) Stopping() { n.send("STOPPING=1") }

func line(status string) string { return "STATUS=" + strings.ReplaceAll(status, "\n", " ") }

// send sends a message, and ignores errors. SdNotify of coreos/go-systemd reads the socket from
// the environment of the process only, and waits without a limit while systemd does not read.
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
