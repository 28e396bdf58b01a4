package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/base/proc"
)

// groups returns the directories of a container's cgroup, in every hierarchy: of version 2, of
// version 1, or of both.
func groups(id string) (dirs []string) {
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/*"} {
		found, _ := filepath.Glob(filepath.Join(root, CgroupPath(id))) // the pattern is valid
		dirs = append(dirs, found...)
	}
	return dirs
}

// Left returns the living processes in the cgroup of a container, and in those below it.
func Left(id string) (pids []int) {
	for _, dir := range groups(id) {
		_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err != nil || !e.IsDir() {
				return nil // it is being removed, and so has no process
			}
			b, _ := os.ReadFile(filepath.Join(path, "cgroup.procs"))
			for _, text := range strings.Fields(string(b)) {
				if pid, err := strconv.Atoi(text); err == nil && pid > 1 && !proc.Of(pid).Ended() {
					pids = append(pids, pid)
				}
			}
			return nil
		})
	}
	slices.Sort(pids)
	return slices.Compact(pids)
}

// endEvery is the interval at which End checks whether a cgroup is empty.
const endEvery = 2 * time.Millisecond

// End ends every process in the cgroup of a container whose first process has ended, and waits
// until the cgroup is empty. The error reports that it is not, after the limit: then the container
// may still run.
func End(ctx context.Context, id string, limit time.Duration) error {
	end := time.Now().Add(limit)
	for pause := endEvery; ; pause = min(2*pause, 100*time.Millisecond) {
		pids := Left(id)
		if len(pids) == 0 {
			return nil
		}
		kill(id, pids)
		select {
		case <-ctx.Done():
			return errors.Join(errLeft(pids), context.Cause(ctx))
		case <-time.After(pause):
		}
		if time.Now().After(end) {
			return errLeft(pids)
		}
	}
}

func errLeft(pids []int) error {
	return fmt.Errorf("%d of the processes that it started still run, of which the first is %d, and do not end when they are killed",
		len(pids), pids[0])
}

// kill kills the processes in the cgroup of a container: all at once where the kernel can.
func kill(id string, pids []int) {
	for _, dir := range groups(id) {
		if os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0) == nil {
			return
		}
	}
	for _, pid := range pids {
		if fd, err := OpenProcess(id, pid); err == nil {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // it may have ended
			_ = unix.Close(fd)
		}
	}
}
