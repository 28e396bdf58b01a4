package layout

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"deployster/internal/base/diag"
)

// sharedMemory is where files in memory are kept if the run-time directory is on a disk, as it is in many containers.
const sharedMemory = "/dev/shm"

// MemoryRoot returns the directory of those files for a run-time directory.
func MemoryRoot(runtimeDir string) string {
	return filepath.Join(sharedMemory, fmt.Sprintf("deployster-%x", sha256.Sum256([]byte(runtimeDir)))[:27])
}

// InMemory reports whether a directory is in memory.
func InMemory(dir string) bool {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return false
	}
	return fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.RAMFS_MAGIC
}

// MakeConfidential creates the directory of the files of a run in memory: at RunDir, or, if that is on a disk, in
// shared memory, with a link at RunDir.
func MakeConfidential(runtimeDir, container string) error {
	dir := RunDir(runtimeDir, container)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if InMemory(runtimeDir) {
		return os.Mkdir(dir, 0o700)
	}
	root := MemoryRoot(runtimeDir)
	if !InMemory(sharedMemory) {
		return diag.Errorf("No place in memory for a secret", "A run with the value of a secret keeps its files in memory alone, and "+
			"neither %s nor %s is a tmpfs. Mount one on /run.", runtimeDir, sharedMemory)
	}
	if err := os.Mkdir(root, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(root)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || info.Mode().Perm() != 0o700 || int(owner.Uid) != os.Geteuid() {
		return diag.Errorf("No place in memory for a secret", "%s belongs to somebody else, or others can read it. Remove it.", root)
	}
	there := filepath.Join(root, container)
	if err := os.Mkdir(there, 0o700); err != nil {
		return err
	}
	if err := os.Symlink(there, dir); err != nil {
		return errors.Join(err, os.Remove(there))
	}
	return nil
}

// RemoveFiles removes the directory of the files of a run, or of all runs of a client, also those in memory.
func RemoveFiles(dir string) error {
	errs := []error{removeTarget(dir)}
	entries, _ := os.ReadDir(dir) // none if it does not exist
	for _, e := range entries {
		errs = append(errs, removeTarget(filepath.Join(dir, e.Name())))
	}
	return errors.Join(append(errs, os.RemoveAll(dir))...)
}

// removeTarget removes what a link of MakeConfidential leads to.
func removeTarget(link string) error {
	to, err := os.Readlink(link)
	if err != nil || !strings.HasPrefix(to, sharedMemory+"/deployster-") {
		return nil // it is another link
	}
	return os.RemoveAll(to)
}
