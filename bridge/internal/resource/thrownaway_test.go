package resource

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func put(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(path), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A file that an action leaves is an error that names it, and the file is removed: nothing finds it later.
func TestThrownAway_NamesTheFile(t *testing.T) {
	dir := t.TempDir()
	w := &thrownAway{dirs: []string{dir}}
	old, path := filepath.Join(dir, "old"), filepath.Join(dir, "f")
	put(t, old)
	f := w.begin()
	if err := w.end(t.Context(), f, ""); err != nil {
		t.Errorf("nothing was written: %v", err)
	}
	f = w.begin()
	put(t, path)
	put(t, filepath.Join(dir, "g"))
	err := w.end(t.Context(), f, "")
	if err == nil || !strings.Contains(err.Error(), "it wrote "+path+" and 1 more, which is thrown away") || !strings.Contains(err.Error(), "-plug") {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	f = w.begin()
	put(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := w.end(t.Context(), f, ""); err != nil {
		t.Errorf("a temporary file: %v", err)
	}
}

// Of actions that run at the same time the one fails whose result names the file; a temporary file
// of one is no fault of another.
func TestThrownAway_NamesWhoseFileItIs(t *testing.T) {
	dir := t.TempDir()
	w := &thrownAway{dirs: []string{dir}}
	mine, temporary := filepath.Join(dir, "mine"), filepath.Join(dir, "temporary")
	writer, other, third := w.begin(), w.begin(), w.begin()
	put(t, mine)
	put(t, temporary)
	ended := make(chan error)
	for _, f := range []*flight{other, third} {
		go func() { ended <- w.end(t.Context(), f, "") }()
	}
	if err := os.Remove(temporary); err != nil {
		t.Fatal(err)
	}
	err := w.end(t.Context(), writer, "state of "+mine)
	if err == nil || !strings.Contains(err.Error(), mine) || strings.Contains(err.Error(), temporary) {
		t.Errorf("the writer: %v", err)
	}
	for range 2 {
		if err := <-ended; err != nil {
			t.Errorf("another one: %v", err)
		}
	}
	late := w.begin()
	never := w.begin()
	put(t, mine)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.end(gone, late, ""); err == nil {
		t.Error("an interrupted one reports nothing")
	}
	if err := w.end(t.Context(), never, ""); err != nil {
		t.Error(err)
	}
}

// Only a container with a read-only root has files that nobody may claim to have made.
func TestThrownAway_Where(t *testing.T) {
	const rest = `501 500 0:40 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k,mode=755
502 501 0:41 / /dev/shm rw - tmpfs shm rw,size=65536k
503 500 254:1 /srv /srv rw - ext4 /dev/vda1 rw
`
	const scratch = "504 500 0:42 / /tmp rw,nosuid,nodev,noexec - tmpfs tmpfs rw,size=65536k\n"
	const plug = "504 500 0:25 / /tmp rw - tmpfs tmpfs rw,size=1024k\n"
	readOnly, writable := "500 1 0:30 / / ro,relatime - overlay overlay rw,lowerdir=/l\n", "500 1 0:30 / / rw,relatime - overlay overlay rw\n"
	for mounts, want := range map[string]string{readOnly + rest + scratch: "/dev /dev/shm /tmp", readOnly + rest + plug: "/dev /dev/shm",
		readOnly + rest: "/dev /dev/shm", writable + rest + scratch: "", "": ""} {
		if got := strings.Join(ThrownAway(mounts), " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWithPlug_NamesTheWayOut(t *testing.T) {
	if got := withPlug("Create local file error: open /srv/f: read-only file system."); !strings.Contains(got, "-plug NAME=DIR:rw") ||
		!strings.Contains(got, "read-only file system. Files") || !strings.Contains(got, "read_only_rootfs = false") {
		t.Error(got)
	}
	if got := withPlug("no route"); got != "no route" {
		t.Error(got)
	}
}
