package sandbox

import (
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/containerd/containerd/v2/core/mount"
	"github.com/opencontainers/runtime-spec/specs-go"
)

// maxWritten is how many files Written lists.
const maxWritten = 5

// Written returns the first files and links that a program has left in its container's own files, sorted. The
// places where something is mounted do not count: runc makes them. Where the files of the image cannot be distinguished from
// the others, there are none.
func Written(rootfs []mount.Mount, mounted []specs.Mount) (paths []string) {
	dir, whole := writableLayer(rootfs)
	if dir == "" || whole {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		target := "/" + relative(dir, path)
		switch {
		case err != nil:
			return nil // it cannot be read, or was removed meanwhile
		case slices.ContainsFunc(mounted, func(m specs.Mount) bool { return m.Destination == target }):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() || d.Type()&fs.ModeSymlink != 0:
			paths = append(paths, target)
		}
		if len(paths) == maxWritten {
			return fs.SkipAll
		}
		return nil
	})
	slices.Sort(paths)
	return paths
}

// relative returns a path below a directory without that directory.
func relative(dir, path string) string {
	rest, err := filepath.Rel(dir, path)
	if err != nil {
		return path
	}
	return rest
}
