package sweep

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/containerd/containerd/v2/core/mount"
	"github.com/moby/sys/mountinfo"

	"deployster/containerd/layout"
)

// UnmountBelow unmounts everything below a directory, even if that was deleted, so that
// the kernel lists it by another name.
func UnmountBelow(dir string) error {
	mounts, err := mountinfo.GetMounts(func(m *mountinfo.Info) (skip, stop bool) {
		return !strings.HasPrefix(m.Mountpoint, dir+"/"), false
	})
	if err != nil {
		return err
	}
	var errs []error
	for i := len(mounts) - 1; i >= 0; i-- { // newest first: it may be inside another
		point := strings.TrimSuffix(mounts[i].Mountpoint, "//deleted")
		if err := mount.UnmountAll(point, 0); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// removeIO removes the files of a dead client, and what it had mounted there.
func (w Sweeper) removeIO(client string) error {
	dir := filepath.Join(w.RuntimeDir, "io", client)
	if err := UnmountBelow(dir); err != nil {
		return err
	}
	return layout.RemoveFiles(dir)
}
