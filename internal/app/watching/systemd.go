package watching

import (
	"fmt"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// systemd gets messages about the service: that it is ready, reloads its configuration, is alive, and stops. Without a socket
// nothing is sent.
type systemd struct{ socket string }

// newSystemd returns what sends to the value of NOTIFY_SOCKET.
func newSystemd(socket string) systemd {
	if strings.HasPrefix(socket, "@") {
		socket = "\x00" + socket[1:] // an abstract socket
	}
	return systemd{socket}
}

// Ready reports that the service is ready, or is ready again, with its status: in one
// message, so that nobody sees the one without the other.
func (s systemd) Ready(status string) { s.send("READY=1\n" + statusLine(status)) }

// Reloading reports that the service reloads its configuration, until Ready.
func (s systemd) Reloading() {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // never fails on Linux
	s.send(fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d", now.Nano()/int64(time.Microsecond)))
}

// Alive reports that the service is not stuck, with its status.
func (s systemd) Alive(status string) { s.send("WATCHDOG=1\n" + statusLine(status)) }

// Stopping reports that the service stops.
func (s systemd) Stopping() { s.send("STOPPING=1") }

func statusLine(status string) string { return "STATUS=" + strings.ReplaceAll(status, "\n", " ") }

// send sends a message, and ignores errors. SdNotify of coreos/go-systemd reads the socket from
// the environment of the process only, and waits without a limit while systemd does not read.
func (s systemd) send(message string) {
	if s.socket == "" {
		return
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.socket, Net: "unixgram"})
	if err != nil {
		return
	}
	_ = c.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = c.Write([]byte(message))
	_ = c.Close()
}
