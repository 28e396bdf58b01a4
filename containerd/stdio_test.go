package containerd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"deployster/containerd/layout"
	"deployster/containerd/runfiles"
	"deployster/containerd/sweep"
	"deployster/internal/runtime/runner"
)

// The server keeps the logs of dead clients' actions small.
func TestSweep_TrimsTheLogsOfTheDead(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	const size = 40 << 20
	mark := filepath.Join(t.TempDir(), "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := startClient(t, o, runner.Spec{Name: "a", Kind: runner.Action, Digest: dgst, Entrypoint: "/bin/sh",
		Mounts: []runner.Mount{{Source: mark, Target: "/mark"}},
		Args:   []string{"-c", fmt.Sprintf("echo started; while ! [ -s /mark ]; do sleep 0.1; done; yes | head -c %d >&2; exec sleep 1000", size)}})
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	if err := os.WriteFile(mark, []byte("go"), 0o600); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(o.RuntimeDir, "io", "*", "*", "stderr"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("there are logs %q, %v", logs, err)
	}
	eventually(t, "the log is written, and trimmed", func() bool {
		i, err := os.Stat(logs[0])
		return err == nil && i.Size() == size && onDisk(t, logs[0]) <= 2*runfiles.MaxBehind
	})
	ctx := r.conn.Context(context.Background())
	if err := sweep.RemoveTask(ctx, r.conn.Client, filepath.Base(filepath.Dir(logs[0]))); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its files are removed", func() bool { return len(layout.Clients(o.RuntimeDir)) == 1 })
	nothingLeft(t, r)
}

func onDisk(t *testing.T, path string) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}
