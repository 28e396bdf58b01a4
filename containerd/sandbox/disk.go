package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/containerd/containerd/v2/core/mount"
)

const (
	diskEvery = 300 * time.Millisecond // between looks at a container's own files, or more where a look takes long
	diskRest  = 20                     // how many times longer than a look the pause after it is
	diskLook  = 10 * time.Second       // after which a look gives what it has counted so far
	minFile   = 4096                   // what any file counts: endless empty ones fill a disk too
)

// writableLayer returns the directory of this host that gets what a container
// writes into its root file system, and whether the image's files are in it
// too. "" = not known, or not to be seen from here.
func writableLayer(rootfs []mount.Mount) (dir string, whole bool) {
	if len(rootfs) != 1 {
		return "", false
	}
	m := rootfs[0]
	if m.Type == "bind" {
		return m.Source, true
	}
	for _, o := range m.Options {
		if upper, ok := strings.CutPrefix(o, "upperdir="); ok {
			return upper, false
		}
	}
	return "", false
}

// WatchDisk looks again and again how much room a container's own files take,
// those in its volumes with them, and sends once when that is more than the limit. It ends with the context.
// There is no better way on a plain machine: quotas need a file system that was
// made for them.
func WatchDisk(ctx context.Context, rootfs []mount.Mount, limit int64, volumes ...string) <-chan struct{} {
	over := make(chan struct{}, 1)
	dir, whole := writableLayer(rootfs)
	dirs := slices.DeleteFunc(slices.Concat([]string{dir}, volumes), func(dir string) bool { return dir == "" })
	if len(dirs) == 0 {
		return over
	}
	go func() {
		base := int64(0)
		if whole {
			base = diskUsage(ctx, dir)
		}
		for pause := diskEvery; ; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			start := time.Now()
			sum := -base
			for _, dir := range dirs {
				sum += diskUsage(ctx, dir)
			}
			if sum > limit {
				over <- struct{}{}
				return
			}
			pause = max(diskEvery, diskRest*time.Since(start))
		}
	}()
	return over
}

var errEnough = errors.New("enough seen")

// diskUsage adds up what the files below a directory take, while a hostile
// program changes them: no path that it makes leads anywhere else. What cannot
// be looked at counts nothing.
func diskUsage(ctx context.Context, dir string) (sum int64) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0
	}
	defer root.Close()
	ctx, cancel := context.WithTimeout(ctx, diskLook)
	defer cancel()
	_ = fs.WalkDir(root.FS(), ".", func(_ string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return errEnough
		}
		if err != nil {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			// A file with several names counts once in all.
			sum += max(st.Blocks*512, minFile) / max(int64(st.Nlink), 1)
			if e.IsDir() {
				sum += minFile
			}
		}
		return nil
	})
	return sum
}
