package tree

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// Whoever is not root, as in the Pods of a cluster, gets the same tree, and owns it.
func TestUnpack_WithoutRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("it becomes another user")
	}
	const user = 65532
	dir := made(t, map[string]string{"a": "1", "d/b": "22", "d/e/": "", "l>../../etc/passwd": ""})
	for name, mode := range map[string]os.FileMode{"a": 0o755, "d/b": 0o600, "d": 0o555} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	var archive bytes.Buffer
	if err := Pack(t.Context(), &archive, dir); err != nil {
		t.Fatal(err)
	}
	at, err := os.MkdirTemp("", "unpack") // the directory of the test is for its user alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(at) }) // a failed test has left what it has
	if err := os.Chown(at, user, user); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine, and with it the other user
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, user, user, user); errno != 0 {
			failed <- errno
			return
		}
		failed <- Unpack(t.Context(), &archive, filepath.Join(at, "files"))
	}()
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	if was, is := hashOf(t, dir), hashOf(t, filepath.Join(at, "files")); was != is {
		t.Errorf("%s became %s", was, is)
	}
	info, err := os.Lstat(filepath.Join(at, "files", "l"))
	if err != nil {
		t.Fatal(err)
	}
	if owner, is := info.Sys().(*syscall.Stat_t); !is || owner.Uid != user {
		t.Errorf("it belongs to %+v", owner)
	}
}
