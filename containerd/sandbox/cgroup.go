package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"deployster/internal/base/proc"
)

// CgroupPath is where a container's cgroup is, below the root of each
// hierarchy: not below a common one, which would be left behind.
func CgroupPath(id string) string { return "/" + id }

// OOMKilled asks the cgroup of a container that has ended, but is not deleted,
// whether the kernel killed anything in it for want of memory.
func OOMKilled(id string) bool { return OOMKills(id) > 0 }

// OOMKills is how often it did.
func OOMKills(id string) int {
	b, err := os.ReadFile(filepath.Join("/sys/fs/cgroup", CgroupPath(id), "memory.events"))
	if err != nil {
		// The older kind of cgroups, or none any more.
		b, _ = os.ReadFile(filepath.Join("/sys/fs/cgroup/memory", CgroupPath(id), "memory.oom_control"))
	}
	for _, line := range strings.Split(string(b), "\n") {
		var n int
		if _, err := fmt.Sscanf(line, "oom_kill %d", &n); err == nil {
			return n
		}
	}
	return 0
}

// OpenProcess returns a handle on a process of a container. A number alone could
// meanwhile be another's, and a daemon's numbers may not be ours.
func OpenProcess(id string, pid int) (fd int, err error) {
	if pid <= 0 {
		return -1, unix.ESRCH
	}
	if fd, err = unix.PidfdOpen(pid, 0); err != nil {
		return -1, err
	}
	cgroup, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil || !bytes.Contains(cgroup, []byte(CgroupPath(id))) {
		_ = unix.Close(fd)
		return -1, unix.ESRCH
	}
	return fd, nil
}

// Processes returns the processes of a container, its first one before others.
func Processes(id string, first int) (pids []int, err error) {
	b, err := os.ReadFile(filepath.Join("/sys/fs/cgroup", CgroupPath(id), "cgroup.procs"))
	if err != nil {
		// The older kind of cgroups.
		if b, err = os.ReadFile(filepath.Join("/sys/fs/cgroup/pids", CgroupPath(id), "cgroup.procs")); err != nil {
			return nil, err
		}
	}
	for line := range strings.Lines(string(b)) {
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		switch {
		case err != nil:
			return nil, err
		case pid == first:
			pids = append([]int{pid}, pids...)
		case !proc.Of(pid).Ended():
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// HandlesSignal reports whether a process handles a signal, or ignores it on purpose.
func HandlesSignal(pid int, sig unix.Signal) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(status)) {
		name, mask, _ := strings.Cut(line, ":")
		if name != "SigCgt" && name != "SigIgn" {
			continue
		}
		bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
		if err != nil || bits&(1<<(sig-1)) != 0 {
			return true
		}
	}
	return false
}
