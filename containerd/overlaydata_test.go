package containerd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// onOverlay returns a directory on an overlay, as all directories of a container are.
func onOverlay(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	merged := filepath.Join(dir, "merged")
	options := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", dir)
	if err := unix.Mount("overlay", merged, "overlay", 0, options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Processes of the server that has ended may need a moment to let go of the directory.
		err := unix.Unmount(merged, 0)
		for end := time.Now().Add(time.Minute); errors.Is(err, unix.EBUSY) && time.Now().Before(end); {
			time.Sleep(100 * time.Millisecond)
			err = unix.Unmount(merged, 0)
		}
		if err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(merged, "data")
}

// Where the data directory cannot hold the layers of overlayfs, containers run all the same, and the
// client that starts the server warns of the cost.
func TestOpen_DataDirOnAnOverlay(t *testing.T) {
	t.Parallel()
	data := onOverlay(t)
	needRoot(t)
	o := Options{DataDir: data, Runc: newEnoughRunc(t), IdleExit: 30 * time.Second}
	var warned []*diag.Diagnostic
	o.Warn = func(d *diag.Diagnostic) { warned = append(warned, d) }
	o, err := o.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endServer(t, o) })
	r := open(t, o)
	if len(warned) != 1 || !strings.Contains(warned[0].Detail, "on overlayfs, as in a container") || !strings.Contains(warned[0].Detail, "DEPLOYSTER_DATA_DIR") {
		t.Errorf("warned: %v", warned)
	}
	dgst := pack(t, r, imagestore.PackOptions{Entrypoint: []string{"/bin/sh", "-c"}}, nil)
	for i, kind := range []runner.Kind{runner.Query, runner.Action, runner.Query} {
		res, err := r.Run(t.Context(), runner.Spec{Name: "x", Kind: kind, ID: fmt.Sprint(i), Digest: dgst, Reuse: i == 2, Timeout: time.Minute,
			Args: []string{"echo new >/bin/new; cat /bin/new; ls /bin | wc -l"}})
		if err != nil || !bytes.HasPrefix(res.Stdout, []byte("new\n")) || res.ExitCode != 0 {
			t.Errorf("%s: %+v, %v", kind, res, err)
		}
	}
	if _, err := r.Run(t.Context(), runner.Spec{Name: "x", Kind: runner.Query, Digest: dgst, Timeout: time.Minute,
		Args: []string{"sleep 1; for f in 1 2; do dd if=/dev/zero of=/$f bs=64k count=100; done; sleep 60"}, Settings: runner.Settings{Disk: 10 << 20}}); !diag.Is[*runner.DiskError](err) {
		t.Errorf("the limit of its files: %v", err)
	}
	second := open(t, o)
	if len(warned) != 1 || second.conn.Snapshotter != "native" {
		t.Errorf("warned again: %v", warned)
	}
	if left, err := os.ReadDir(filepath.Join(data, "overlay-trial")); err == nil {
		t.Errorf("left behind: %v", left)
	}
}
