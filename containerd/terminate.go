package containerd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	taskapi "github.com/containerd/containerd/api/services/tasks/v1"
	"golang.org/x/sys/unix"
)

const othersEvery = 20 * time.Millisecond // between looks whether the other processes have ended

// terminate asks a program to end. The kernel keeps SIGTERM from the first
// process of a container unless that handles it, and a plain shell does not:
// such a one would just go on until it is killed. So it gets what any other
// program gets: its end. It is stopped first, so that a script does not go on
// with its next line, and the others, who may have something to put in order,
// get SIGTERM and the grace time; alone is closed when they are gone, and what
// is left can be killed. For a program that handles SIGTERM, or ignores it on
// purpose, alone is nil: it is asked, as docker does, and its children are its
// own affair.
func (u *run) terminate(ctx context.Context) (alone <-chan struct{}) {
	if u.forked != nil {
		u.pid = u.warm.find(u.forked.inside)
	}
	first, err := u.open(int(u.pid))
	if err != nil || heeds(int(u.pid), unix.SIGTERM) {
		u.signal(ctx, unix.SIGTERM)
		return nil
	}
	defer unix.Close(first)
	if unix.PidfdSendSignal(first, unix.SIGSTOP, nil, 0) != nil {
		return nil // it has just ended
	}
	for _, pid := range u.others(ctx) {
		if fd, err := u.open(pid); err == nil {
			_ = unix.PidfdSendSignal(fd, unix.SIGTERM, nil, 0) // it may have ended
			_ = unix.Close(fd)
		}
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for len(u.others(ctx)) > 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(othersEvery):
			}
		}
	}()
	return gone
}

// open gives a handle on a process of this container. A number alone could
// meanwhile be another's, and a daemon's numbers may not be ours.
func (u *run) open(pid int) (fd int, err error) {
	if pid <= 0 {
		return -1, unix.ESRCH
	}
	if fd, err = unix.PidfdOpen(pid, 0); err != nil {
		return -1, err
	}
	cgroup, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil || !bytes.Contains(cgroup, []byte(cgroupPath(u.id))) {
		_ = unix.Close(fd)
		return -1, unix.ESRCH
	}
	return fd, nil
}

// others gives the living processes of the container beside the first.
func (u *run) others(ctx context.Context) (pids []int) {
	ctx, cancel := u.r.detached(ctx, 10*time.Second)
	defer cancel()
	resp, err := u.tasks().ListPids(ctx, &taskapi.ListPidsRequest{ContainerID: u.id})
	if err != nil {
		return nil
	}
	for _, p := range resp.Processes {
		if p.Pid != u.pid && (u.warm == nil || p.Pid != u.warm.pid) && processState(int(p.Pid)) != 'Z' {
			pids = append(pids, int(p.Pid))
		}
	}
	return pids
}

// heeds reports whether a process handles a signal, or ignores it on purpose.
func heeds(pid int, sig unix.Signal) bool {
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

// processState gives the letter of a process's state; Z = it has ended.
func processState(pid int) byte {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 'Z'
	}
	// The name before it may hold anything.
	if i := bytes.LastIndex(stat, []byte(") ")); i >= 0 && i+2 < len(stat) {
		return stat[i+2]
	}
	return 'Z'
}
