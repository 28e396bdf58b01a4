package containerd

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// removeCgroups removes the cgroups of a client's containers. runc does that
// itself, but not when it was killed while it made a container, as happens when
// the client is killed that has asked for it. One in which something still runs
// is an error.
func removeCgroups(client string) error {
	var errs []error
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/*"} { // of version 2, and of 1
		dirs, err := filepath.Glob(filepath.Join(root, cgroupPath(client)+"-*"))
		errs = append(errs, err)
		for _, dir := range dirs {
			if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOENT) { // some hierarchies have two names
				errs = append(errs, &os.PathError{Op: "rmdir", Path: dir, Err: err})
			}
		}
	}
	return errors.Join(errs...)
}
