package containerd

import (
	"context"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deployster/containerd/daemon"
)

// Which snapshotter works is found out once for each server; what cannot be is
// not believed.
func TestSnapshotterIsFoundOutOnce(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	found := func() string {
		t.Helper()
		r, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		return r.conn.Snapshotter
	}
	path := o.server().SnapshotterFile()
	note := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	best := found()
	if b, err := os.ReadFile(path); err != nil || string(b) != best {
		t.Errorf("%q is kept (%v), and %q was found", b, err, best)
	}
	note("native")
	if got := found(); got != "native" {
		t.Errorf("%s, which was not what the first had found", got)
	}
	note("../" + best)
	if got := found(); got != best {
		t.Errorf("it has taken %s", got)
	}
	// The next server may be another's.
	note("native")
	pid := serverPid(o)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "the server is dead", func() bool { return !processLives(pid) && !daemon.Listening(o.server().Socket()) })
	if got := found(); got != best {
		t.Errorf("the next server has %s", got)
	}
}
