package replace

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/access"
)

const (
	lockDirectory = "/run/deployster-machine"
	lockFiles     = 64 // several paths share one: that costs a wait, and the files need no sweeping
	lockPoll      = 10 * time.Millisecond
)

// Lock keeps every other process and goroutine of this program from changing the file at
// path, until unlock is called. Two kinds may change parts of one file.
func Lock(ctx context.Context, m *access.Machine, path string) (unlock func(), err error) {
	var parent unix.Stat_t
	if err := unix.Stat(m.Path(filepath.Dir(path)), &parent); err != nil {
		return nil, fmt.Errorf("%s: its directory cannot be read: %w", path, err)
	}
	sum := fnv.New64a()
	_, _ = fmt.Fprintf(sum, "%d %d %s", parent.Dev, parent.Ino, filepath.Base(path))
	directory := m.Path(lockDirectory)
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(directory, fmt.Sprintf("lock-%02x", sum.Sum64()%lockFiles)), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if err != unix.EWOULDBLOCK && err != unix.EINTR {
			_ = file.Close()
			return nil, fmt.Errorf("%s: its lock %s cannot be taken: %w", path, file.Name(), err)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, context.Cause(ctx)
		case <-time.After(lockPoll):
		}
	}
}
