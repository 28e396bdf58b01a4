package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// overlayPlugin is the snapshotter that mounts the files of a container above those of its image.
const overlayPlugin = "io.containerd.snapshotter.v1.overlayfs"

// tryOverlay mounts a writable overlay below a directory, as overlayfs does for each container, and
// returns why that fails. The directory may itself be on an overlay, as in a container: containerd
// checks only that an overlay without a writable layer can be mounted there.
func tryOverlay(dir string) (err error) {
	trial := filepath.Join(dir, "overlay-trial")
	target := filepath.Join(trial, "merged")
	_ = unix.Unmount(target, unix.MNT_DETACH) // of a server that was killed meanwhile
	defer func() { err = errors.Join(err, os.RemoveAll(trial)) }()
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		if err := os.MkdirAll(filepath.Join(trial, name), 0o700); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", trial)
	if err := unix.Mount("overlay", target, "overlay", 0, options); err != nil {
		return fmt.Errorf("mounting an overlay in %s: %w", trial, err)
	}
	return unix.Unmount(target, unix.MNT_DETACH)
}
