package programs

import (
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/base/proc"
)

// child is a program that this process has started.
type child struct {
	pid    int
	done   chan struct{} // closed when it has ended
	status syscall.WaitStatus
}

// code returns the exit code of a program that has ended, as a shell does.
func (c *child) code() int {
	if c.status.Signaled() {
		return 128 + int(c.status.Signal())
	}
	return c.status.ExitStatus()
}

// signal sends a signal to the program alone. The pid is not reused before it is reaped.
func (r *reaper) signal(c *child, s syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.children[c.pid] == c {
		_ = syscall.Kill(c.pid, s) // it may be a zombie
	}
}

// reaper waits for all processes whose parent is this one: programs, and orphans of them.
type reaper struct {
	mu       sync.Mutex // held while a program starts: it is known before it is reaped
	children map[int]*child
}

func newReaper() *reaper {
	r := &reaper{children: map[int]*child{}}
	// Orphans come to this process even if it is not the first one of its container.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // has no reason to fail
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	go func() {
		for range ended {
			for r.reap() {
			}
		}
	}()
	return r
}

// reap waits for one process that has ended, and reports whether there was one.
func (r *reaper) reap() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
	if err == syscall.EINTR {
		return true
	}
	if err != nil || pid <= 0 {
		return false
	}
	if c := r.children[pid]; c != nil {
		delete(r.children, pid)
		c.status = status
		close(c.done)
	}
	return true
}

// start starts a program, which leads a session.
func (r *reaper) start(path string, argv []string, a *syscall.ProcAttr) (*child, error) {
	a.Sys = &syscall.SysProcAttr{Setsid: true}
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, err := syscall.ForkExec(path, argv, a)
	if err != nil {
		return nil, err
	}
	c := &child{pid: pid, done: make(chan struct{})}
	r.children[pid] = c
	return c, nil
}

// rounds is how often killAll searches for processes that were started meanwhile.
const rounds = 20

// killAll kills a program and what it has started: the processes of its session and their
// descendants. It finds nothing of a program that has ended without such processes.
func killAll(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGKILL) // the group may be empty
	for range rounds {
		found := false
		for _, p := range belonging(pid) {
			found = syscall.Kill(p, syscall.SIGKILL) == nil || found
		}
		if !found {
			return
		}
	}
}

// killOrphans kills the processes that have lost their parents, and what they have started: programs that have left their sessions.
func (r *reaper) killOrphans() {
	for range rounds {
		orphans := r.orphans()
		for _, p := range orphans {
			_ = syscall.Kill(p, syscall.SIGKILL) // it may have ended
		}
		if len(orphans) == 0 {
			return
		}
		time.Sleep(time.Millisecond) // they die
	}
}

// orphans returns the processes below this one that do not come from a program that it has started and that runs.
func (r *reaper) orphans() (list []int) {
	all := processes()
	r.mu.Lock()
	defer r.mu.Unlock()
	for pid := range all {
		at := pid
		for steps := 0; steps < len(all) && at > 1 && all[at].parent != os.Getpid(); steps++ {
			at = all[at].parent
		}
		if all[at].parent == os.Getpid() && r.children[at] == nil {
			list = append(list, pid)
		}
	}
	return list
}

// belonging returns the processes that run in the session of a program, and their descendants.
func belonging(session int) (list []int) {
	all := processes()
	for pid := range all {
		at := pid
		for steps := 0; steps < len(all) && at > 1 && all[at].session != session; steps++ {
			at = all[at].parent
		}
		if all[at].session == session && pid != os.Getpid() {
			list = append(list, pid)
		}
	}
	return list
}

// running is what is known of a process that runs.
type running struct{ parent, session int }

// processes returns the processes that run, by their numbers.
func processes() map[int]running {
	files, err := proc.Files("stat")
	if err != nil {
		return nil
	}
	all := map[int]running{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		end := strings.LastIndexByte(string(text), ')')
		fields := strings.Fields(string(text[max(end, 0):])) // ) state ppid pgrp session
		pid, err := strconv.Atoi(strings.Split(name, "/")[2])
		if err != nil || end < 0 || len(fields) < 5 || fields[1] == "Z" || fields[1] == "X" {
			continue
		}
		var p running
		p.parent, _ = strconv.Atoi(fields[2])
		p.session, _ = strconv.Atoi(fields[4])
		all[pid] = p
	}
	return all
}
