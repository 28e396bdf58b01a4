package runfiles

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// output makes an output that somebody may write to.
func output(t *testing.T, name string) *LogFile {
	t.Helper()
	o, err := NewLogFile(filepath.Join(t.TempDir(), name), os.O_RDWR, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Finish(); _ = o.File.Close() })
	return o
}

func write(t *testing.T, o *LogFile) {
	t.Helper()
	if _, err := o.File.WriteString("a line\n"); err != nil {
		t.Fatal(err)
	}
}

// has reports whether a value comes within a time.
func has(c <-chan struct{}, limit time.Duration) bool {
	select {
	case <-c:
		return true
	case <-time.After(limit):
		return false
	}
}

const (
	soon  = 30 * time.Second
	never = 20 * time.Millisecond
)

// Each caller that waits gets one value for each of its own files.
func TestGrowth_NotifiesOfItsOwnFiles(t *testing.T) {
	t.Parallel()
	var g Growth
	t.Cleanup(g.Close)
	stdout, stderr, other := output(t, "stdout"), output(t, "stderr"), output(t, "stdout")
	grown, stop, ok := g.Await(stdout, stderr)
	others, stopOthers, ok2 := g.Await(other)
	if !ok || !ok2 {
		t.Fatal("this machine has no inotify instance left")
	}
	write(t, stderr)
	if !has(grown, soon) || has(others, never) {
		t.Error("the wrong one was told")
	}
	write(t, stderr)
	write(t, stdout) // not told yet
	if !has(grown, soon) || has(grown, never) {
		t.Error("it did not get one value for each file")
	}
	stop()
	stopOthers()
	write(t, other)
	if has(others, never) || len(g.waiting) != 0 {
		t.Error("who has stopped to wait was told")
	}
	again, stopAgain, _ := g.Await(stdout)
	write(t, stdout)
	if !has(again, soon) {
		t.Error("a caller that waits again gets nothing")
	}
	stopAgain()
}

// A file that cannot be watched is measured, and so is all when the kernel has lost events, or nothing is watched any more.
func TestGrowth_ReportsWhatItCannotKnow(t *testing.T) {
	t.Parallel()
	var g Growth
	stdout := output(t, "stdout")
	if _, _, ok := g.Await(stdout, &LogFile{Path: "/none"}); ok || len(g.waiting) != 0 {
		t.Errorf("%v, %d wait", ok, len(g.waiting))
	}
	grown, _, ok := g.Await(stdout)
	if g.notify(-1); !ok || !has(grown, soon) {
		t.Error("events were lost, and nobody was told")
	}
	g.Close()
	if _, _, ok := g.Await(stdout); ok {
		t.Error("it waits after the end")
	}
}
