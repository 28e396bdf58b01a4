//go:build linux && amd64

package agent

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deployster/internal/testkit/crash"
)

// An agent is killed before each call that writes to the files of an action: a program that has run is on record, and
// one whose end is on record has run.
func TestAgent_KilledAtEachCall(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for at := 0; ; at++ {
		dir := t.TempDir()
		name, mark := filepath.Join(t.TempDir(), "s"), filepath.Join(t.TempDir(), "mark")
		l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: name})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan crash.Result, 1)
		go func() {
			res, err := crash.Run(crash.Program{Path: self, Args: []string{"agent"}, Env: []string{"AGENT_TEST=" + name, "PATH=/bin"}, Dir: "/",
				Output: os.Stderr}, crash.Point{Dir: dir, At: at})
			if err != nil {
				t.Error(err)
			}
			done <- res
		}()
		c := &client{t: t}
		if c.UnixConn, err = l.AcceptUnix(); err != nil {
			t.Fatal(err)
		}
		if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		c.says(Ready, Layout)
		c.act(dir, "sh", "-c", `echo done >>"$0"; echo printed`, mark)
		if err := c.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		res := <-done
		_, _ = l.Close(), c.Close()
		record := content(t, filepath.Join(dir, "record"))
		r := ReadRecord([]byte(record))
		if r.Begun {
			holds(t, mark, "done\n")
		}
		if ran := content(t, mark); ran != "" && !r.Begun || r.Exit != nil && ran != "done\n" || at == 0 && (len(res.Calls) < 3 || r.Exit == nil) {
			t.Errorf("killed at %d, before %v: it has recorded %q, and run %q", at, res.Hit, record, ran)
		}
		if r.Exit != nil && content(t, filepath.Join(dir, "out")) != "printed\n" {
			t.Errorf("killed before %v: its end is on record before what it has printed", res.Hit)
		}
		seen[record]++
		if at > 0 && res.Hit == nil {
			break
		}
	}
	if len(seen) != 3 {
		t.Errorf("records were %v", seen)
	}
}
