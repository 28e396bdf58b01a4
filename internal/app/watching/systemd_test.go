package watching

import (
	"net"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// Each message reaches the socket as systemd reads it; without a socket, or with one that
// nobody listens on, nothing happens.
func TestSystemd_SendsWhatSystemdReads(t *testing.T) {
	t.Parallel()
	newSystemd("").Ready("")
	newSystemd(filepath.Join(t.TempDir(), "nobody")).Ready("")
	path := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	n := newSystemd(path)
	for _, m := range []struct {
		send func()
		want string
	}{
		{func() { n.Ready("a\nb") }, `^READY=1\nSTATUS=a b$`}, {n.Reloading, `^RELOADING=1\nMONOTONIC_USEC=[1-9]\d*$`}, {func() { n.Alive("c") }, `^WATCHDOG=1\nSTATUS=c$`}, {n.Stopping, `^STOPPING=1$`},
	} {
		m.send()
		b := make([]byte, 256)
		if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		size, err := c.Read(b)
		if err != nil || !regexp.MustCompile(m.want).Match(b[:size]) {
			t.Errorf("%q, %v: want %s", b[:size], err, m.want)
		}
	}
}
