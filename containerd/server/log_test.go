package server

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"deployster/containerd/daemon"
)

// The log of a server that goes on for months stays small, and has its last lines.
func TestBoundLog_KeepsTheLastLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "server.log")
	if err := boundLog(path); err != nil {
		t.Errorf("a log that is not there: %v", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) // as it is opened for a server
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for day := range 50 {
		line := fmt.Sprintf("the last line of day %d\n", day)
		if _, err := f.WriteString(string(bytes.Repeat([]byte("x"), daemon.LogLimit/3)) + line); err != nil {
			t.Fatal(err)
		}
		if err := boundLog(path); err != nil {
			t.Fatal(err)
		}
		now, _ := os.ReadFile(path) // its size is judged
		old, _ := os.ReadFile(path + ".old")
		if len(now) > daemon.LogLimit || len(old) > daemon.LogLimit || bytes.IndexByte(now, 0) >= 0 {
			t.Fatalf("day %d: %d and %d bytes", day, len(now), len(old))
		}
		if !bytes.HasSuffix(append(old, now...), []byte(line)) {
			t.Fatalf("day %d: its last line is lost", day)
		}
	}
}
