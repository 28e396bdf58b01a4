package durable

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestSharedFS_FindsNetworkFileSystems(t *testing.T) {
	t.Parallel()
	local := filepath.Join(t.TempDir(), "not there yet")
	if name, err := SharedFS(local); err != nil || name != "" {
		t.Errorf("a local directory: %q, %v", name, err)
	}
	if _, err := SharedFS(filepath.Join(local, "a", "b")); err == nil {
		t.Error("no error where there is no directory")
	}
	for magic, want := range map[int64]string{0x6969: "NFS", 0xff534d42 - 1<<32: "CIFS", 0xef53: ""} {
		statfs := func(path string, st *syscall.Statfs_t) error {
			if strings.HasSuffix(path, "yet") {
				return syscall.ENOENT
			}
			st.Type = magic
			return nil
		}
		if got, err := sharedFS(local, statfs); err != nil || got != want {
			t.Errorf("magic %#x: %q, %v; want %q", magic, got, err, want)
		}
	}
}
