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

// CgroupPath returns the path of a container's cgroup, below the root of each hierarchy:
// not below a common parent, which would be left behind.
func CgroupPath(id string) string { return "/" + id }

// OOMKilled reports whether the kernel killed any process of a container for lack of
// memory. The container may have ended, but must not be deleted.
func OOMKilled(id string) bool { return OOMKills(id) > 0 }

// OOMKills returns how many processes of a container the kernel killed for lack of memory.
func OOMKills(id string) int {
	b, err := os.ReadFile(filepath.Join("/sys/fs/cgroup", CgroupPath(id), "memory.events"))
	if err != nil {
		// Cgroups of version 1, or none any more.
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

// OpenProcess returns a pidfd of a process of a container. A pid alone could belong to
// another process by now, and a daemon may have another pid namespace.
func OpenProcess(id string, pid int) (fd int, err error) {
	if pid <= 0 {
		return -1, unix.ESRCH
	}
	if fd, err = unix.PidfdOpen(pid, 0); err != nil {
		return -1, err
	}
	if !HasCgroups() {
		if isOf(id, pid) {
			return fd, nil
		}
		_ = unix.Close(fd)
		return -1, unix.ESRCH
	}
	cgroup, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil || !bytes.Contains(cgroup, []byte(CgroupPath(id))) {
		_ = unix.Close(fd)
		return -1, unix.ESRCH
	}
	return fd, nil
}

// Processes returns the living processes of a container, its first one before the others.
func Processes(id string, first int) (pids []int, err error) {
	if !HasCgroups() {
		return inNamespaceOf(first)
	}
	b, err := os.ReadFile(filepath.Join("/sys/fs/cgroup", CgroupPath(id), "cgroup.procs"))
	if err != nil {
		// Cgroups of version 1.
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
