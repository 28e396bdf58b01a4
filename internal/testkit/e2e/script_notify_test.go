package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// listenForNotes is systemd's end of NOTIFY_SOCKET: each message is a line of a file, with
// a blank between its own.
func listenForNotes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: notify-socket FILE")
	}
	dir, err := os.MkdirTemp("", "dn") // short, because of the socket in it
	ts.Check(err)
	socket := filepath.Join(dir, "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	ts.Check(err)
	file, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b := make([]byte, 64<<10)
		for {
			n, err := c.Read(b)
			if err != nil {
				return // it was closed
			}
			if _, err := fmt.Fprintln(file, strings.ReplaceAll(string(b[:n]), "\n", " ")); err != nil {
				return // the script misses it
			}
		}
	}()
	atEnd(ts, func() error {
		_ = c.Close() // ends the reader
		<-ended
		_ = file.Close() // what was missing in it the script has missed
		return os.RemoveAll(dir)
	})
	ts.Setenv("NOTIFY_SOCKET", socket)
}
