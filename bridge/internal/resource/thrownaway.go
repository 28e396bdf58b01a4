package resource

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The ways to files that last, for messages.
const (
	packPlug = "pack the provider with -plug NAME=DIR:rw, and grant that directory of the machine with a plug block"
	noMatter = "If nobody needs the file, set read_only_rootfs = false in the type block"
)

// withPlug adds to a provider's error that only plugs can be written to, if that is its cause.
func withPlug(text string) string {
	if !strings.Contains(text, "read-only file system") {
		return text
	}
	text = strings.TrimSuffix(text, ".")
	return fmt.Sprintf("%s. Files outside of plugs are thrown away, so they cannot be written: %s. %s", text, packPlug, noMatter)
}

// thrownAway finds the files that actions leave where they are thrown away with the container. It is
// safe for concurrent use. The zero value searches nowhere.
type thrownAway struct {
	dirs []string // whose files are thrown away, except for what is mounted below them

	mu     sync.Mutex
	flying []*flight
}

// flight is an action, from its begin to the end of the provider's call.
type flight struct {
	before map[string]time.Time // the files and when they last changed
	others []*flight            // that were in progress at the same time
	landed chan struct{}        // closed at its end; result is set then
	result string               // the state that it has made
}

// begin notes which files there are before an action.
func (w *thrownAway) begin() *flight {
	f := &flight{landed: make(chan struct{})}
	if len(w.dirs) == 0 {
		return f
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	f.before = w.list()
	for _, other := range w.flying {
		other.others = append(other.others, f)
		f.others = append(f.others, other)
	}
	w.flying = append(w.flying, f)
	return f
}

// end returns an error if an action has left files that are thrown away. If others were in progress
// at the same time, it waits for them: then only what they leave too is still there. A file that the
// result of one of them names is the file of that one.
func (w *thrownAway) end(ctx context.Context, f *flight, result string) error {
	if len(w.dirs) == 0 {
		return nil
	}
	w.mu.Lock()
	w.flying = slices.DeleteFunc(w.flying, func(other *flight) bool { return other == f })
	f.result = result
	close(f.landed)
	others := f.others
	w.mu.Unlock()
	left := w.left(f)
	if len(left) == 0 {
		return nil
	}
	for _, other := range others {
		select {
		case <-other.landed:
		case <-ctx.Done():
		}
	}
	left = slices.DeleteFunc(w.left(f), func(path string) bool {
		return !strings.Contains(result, path) && slices.ContainsFunc(others, func(other *flight) bool { return other.names(path) })
	})
	if len(left) == 0 {
		return nil
	}
	for _, path := range left {
		_ = os.Remove(path) // a later invocation in this container must not find it
	}
	more := ""
	if n := len(left) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("it wrote %s%s, which is thrown away with the container: to keep files, %s. %s", left[0], more, packPlug, noMatter)
}

// names reports whether the result of an action that has ended names a path.
func (f *flight) names(path string) bool {
	select {
	case <-f.landed:
		return strings.Contains(f.result, path)
	default:
		return false
	}
}

// left returns the files that are new or changed since the begin of an action, sorted.
func (w *thrownAway) left(f *flight) (paths []string) {
	for path, changed := range w.list() {
		if before, there := f.before[path]; !there || !before.Equal(changed) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// list returns the files and links that are thrown away. Providers have their sockets there too.
func (w *thrownAway) list() map[string]time.Time {
	found := map[string]time.Time{}
	for _, dir := range w.dirs {
		device := deviceOf(os.Lstat(dir))
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // it was removed meanwhile
			}
			info, err := d.Info()
			switch {
			case err != nil:
			case deviceOf(info, nil) != device && d.IsDir():
				return fs.SkipDir // a plug
			case deviceOf(info, nil) == device && (info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0):
				found[path] = info.ModTime()
			}
			return nil
		})
	}
	return found
}

// deviceOf returns the number of the file system of a file; 0 = unknown.
func deviceOf(info fs.FileInfo, err error) uint64 {
	if err == nil {
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			return stat.Dev
		}
	}
	return 0
}

// ThrownAway returns the directories of a container whose files are thrown away with it, if its root
// is read-only: its memory for temporary files, unless a plug is there, and its devices. mountinfo is
// the text of /proc/self/mountinfo.
func ThrownAway(mountinfo string) (dirs []string) {
	readOnly := false
	for line := range strings.Lines(mountinfo) {
		own, super, _ := strings.Cut(line, " - ")
		fields, kind := strings.Fields(own), strings.Fields(super)
		if len(fields) < 6 || len(kind) < 3 {
			continue
		}
		switch target := fields[4]; {
		case target == "/":
			readOnly = slices.Contains(strings.Split(fields[5], ","), "ro")
		case kind[0] != "tmpfs":
		case target == "/dev", target == "/dev/shm", target == "/tmp" && slices.Contains(strings.Split(kind[2], ","), scratchSize):
			dirs = append(dirs, target)
		}
	}
	if !readOnly {
		return nil
	}
	return dirs
}

// scratchSize marks the /tmp that deployster mounts where the root is read-only.
const scratchSize = "size=65536k"
