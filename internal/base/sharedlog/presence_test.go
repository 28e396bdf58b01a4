package sharedlog_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/base/proc"
	"deployster/internal/base/sharedlog"
)

// What a claim that may still hold a log leaves proves that its process is dead; one that holds
// nothing leaves nothing, which proves nothing.
func TestPresence_Ends(t *testing.T) {
	p := sharedlog.Presence(t.TempDir())
	for _, held := range []bool{true, false} {
		claim := sharedlog.NewID()
		end := p.Show(claim, "dir:///a")
		if p.Dead(claim) {
			t.Error("a process that lives is dead")
		}
		end.End(held)
		if p.Dead(claim) != held {
			t.Errorf("its log is held: %v, and its process is dead: %v", held, p.Dead(claim))
		}
	}
}

// Who has a log removes what dead claims of it have left, and nothing of other logs or of those
// who live.
func TestPresence_IsSwept(t *testing.T) {
	p := sharedlog.Presence(t.TempDir())
	dead, other, lives := sharedlog.NewID(), sharedlog.NewID(), sharedlog.NewID()
	p.Show(dead, "dir:///a").End(true)
	p.Show(other, "dir:///b").End(true)
	end := p.Show(lives, "dir:///a")
	defer end.End(false)
	p.Sweep("dir:///a")
	for claim, stays := range map[string]bool{dead: false, other: true, lives: true} {
		if _, err := os.Stat(filepath.Join(string(p), claim)); (err == nil) != stays {
			t.Errorf("the file of %s: %v, and it stays: %v", claim, err, stays)
		}
	}
}

// holder is a process that shows a claim which holds a log from entry n on, and stops (n = 0: which waits for the log).
func holder(t *testing.T, p sharedlog.Presence, claim string, n int) (ended func() bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestPresence_HolderProcess$")
	cmd.Env = append(os.Environ(), "HOLDER_PRESENCE="+string(p), "HOLDER_CLAIM="+claim, "HOLDER_N="+strconv.Itoa(n))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-done })
	for deadline := time.Now().Add(time.Minute); proc.Of(cmd.Process.Pid).Letter != 'T'; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the process did not stop")
		}
	}
	return func() bool { return proc.Of(cmd.Process.Pid).Ended() }
}

// TestPresence_HolderProcess is the process that holder starts.
func TestPresence_HolderProcess(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("HOLDER_N"))
	if err != nil {
		t.Skip("it is the process of another test")
	}
	shown := sharedlog.Presence(os.Getenv("HOLDER_PRESENCE")).Show(os.Getenv("HOLDER_CLAIM"), "dir:///a")
	if err := shown.Holds(uint64(n), sharedlog.By{Command: "apply", PID: os.Getpid()}); err != nil {
		t.Fatal(err)
	}
	_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
	time.Sleep(time.Minute)
}

// A new holder ends the suspended processes of this machine that held the log before, and no others.
func TestPresence_EndsEarlierHolders(t *testing.T) {
	t.Parallel()
	p := sharedlog.Presence(t.TempDir())
	earlier, waits, later := holder(t, p, "earlier", 3), holder(t, p, "waits", 0), holder(t, p, "later", 9)
	me := p.Show("me", "dir:///a")
	defer me.End(false)
	if err := me.Holds(5, sharedlog.By{}); err != nil {
		t.Fatal(err)
	}
	killed, err := p.EndEarlier(t.Context(), "dir:///a", 5, "")
	if err != nil || len(killed) != 1 || killed[0].N != 3 || killed[0].By.Command != "apply" {
		t.Errorf("killed are %+v: %v", killed, err)
	}
	if !earlier() || waits() || later() {
		t.Errorf("ended are the earlier one: %v, the one that waits: %v, the later one: %v", earlier(), waits(), later())
	}
	if p.Sweep("dir:///a"); p.Dead("earlier") {
		t.Error("the file of the process that was ended is still there")
	}
	// The log may have another name for the holder that was taken over.
	if killed, err := p.EndEarlier(t.Context(), "dir:///b", 10, "later"); err != nil || len(killed) != 1 || !later() {
		t.Errorf("killed by its claim are %+v: %v", killed, err)
	}
}

// A process that cannot be ended, or that has the number of an earlier holder by chance, is left alone.
func TestPresence_EndsNoOtherProcess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, is string }{
		"another process id namespace": {`"namespace":"pid:`, `"namespace":"other:`},
		"the number is used again":     {`"started":"`, `"started":"1`}, // its file is locked: some process may still act
	} {
		p := sharedlog.Presence(t.TempDir())
		ended := holder(t, p, "earlier", 3)
		path := filepath.Join(string(p), "earlier")
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), c.old) {
			t.Fatalf("%s: %s, %v", name, text, err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), c.old, c.is, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		killed, err := p.EndEarlier(t.Context(), "dir:///a", 5, "")
		if _, alive := errors.AsType[*sharedlog.AliveError](err); !alive || len(killed) > 0 || ended() {
			t.Errorf("%s: killed are %+v, ended: %v, %v", name, killed, ended(), err)
		}
	}
}
