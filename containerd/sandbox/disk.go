package sandbox

import (
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/containerd/containerd/v2/core/mount"
	"golang.org/x/sys/unix"

	"deployster/internal/base/parallel"
	"deployster/internal/runtime/runner"
)

const (
	diskEvery = 250 * time.Millisecond // interval of the measurements of a container's own files, or more if measuring takes long
	diskQuiet = time.Second            // the same if they have not changed for 16 times as long
	diskRest  = 20                     // how many times longer than a measurement the pause after it is,
	diskPause = 5 * time.Second        // but at most this long
	minFile   = 4096                   // minimum size of any name: endless empty files or links fill a disk, or a measurement
)

// writableLayer returns the directory of this host with the files that a container writes
// to its root file system, and whether the image's files are in it too. "" = unknown, or
// not visible from here.
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

// WatchDisk repeatedly measures the disk usage of a container's own files, including
// those in its volumes, and sends once when it exceeds the limit or cannot be measured.
// It ends with the context. Quotas would be better, but need a file system that was
// created for them, which a plain machine does not have.
func WatchDisk(ctx context.Context, rootfs []mount.Mount, limit int64, volumes ...string) <-chan *runner.DiskError {
	exceeded := make(chan *runner.DiskError, 1)
	dir, whole := writableLayer(rootfs)
	dirs := slices.DeleteFunc(slices.Concat([]string{dir}, volumes), func(dir string) bool { return dir == "" })
	if len(dirs) == 0 || limit == math.MaxInt64 {
		return exceeded
	}
	go func() {
		base := int64(0)
		if whole {
			u := usage{ctx: ctx, limit: math.MaxInt64}
			u.add(dir)
			base = u.sum
		}
		last, changed := int64(-1), time.Now()
		for pause := diskEvery; ; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			start := time.Now()
			u := usage{ctx: ctx, sum: -base, limit: limit}
			for _, dir := range dirs {
				u.add(dir)
			}
			if u.sum > limit || u.tooDeep {
				exceeded <- &runner.DiskError{Limit: limit, TooDeep: u.tooDeep}
				return
			}
			if u.sum != last {
				last, changed = u.sum, start
			}
			pause = restAfter(time.Since(start), start.Sub(changed))
		}
	}()
	return exceeded
}

// restAfter returns how long to wait after a measurement that took so long, of files that have
// not changed for a time. Most containers have few files of their own: these are measured together.
func restAfter(look, quiet time.Duration) time.Duration {
	every := diskEvery
	if quiet >= 16*diskQuiet {
		every = diskQuiet
	}
	if diskRest*look <= every {
		return parallel.Aligned(every)
	}
	return min(diskRest*look, diskPause)
}

// usage adds up the disk usage of files while a hostile program may change them: it never
// follows a link, and opens each directory once, from its parent. A measurement continues
// until it is known whether the limit is exceeded. It ends, because each name counts
// something.
type usage struct {
	ctx     context.Context
	sum     int64
	limit   int64
	tooDeep bool
}

// add adds the files below a directory. A file that cannot be measured counts nothing.
func (u *usage) add(dir string) {
	if f, err := os.Open(dir); err == nil {
		u.addFiles(f, 1)
	}
}

// addFiles adds the files below an open directory, and closes the directory.
func (u *usage) addFiles(dir *os.File, depth int) {
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(256)
		for _, name := range names {
			u.addFile(int(dir.Fd()), name, depth)
			if u.sum > u.limit || u.tooDeep || u.ctx.Err() != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (u *usage) addFile(dir int, name string, depth int) {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		// A file with several names counts once in all.
		u.sum += max(st.Blocks*512/max(int64(st.Nlink), 1), minFile)
		return
	}
	u.sum += max(st.Blocks*512, minFile) + minFile
	if depth == runner.MaxDepth {
		u.tooDeep = true
		return
	}
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == nil {
		u.addFiles(os.NewFile(uintptr(fd), name), depth+1)
	}
}
