package cgroups

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Groups are the directories of one control group: one in each hierarchy.
type Groups []string

// New makes a control group in each hierarchy, after the end of what an earlier one of that name left. The caller
// must call End.
func New(name string) (Groups, error) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	var groups Groups
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 2 && (fields[2] == "cgroup" || fields[2] == "cgroup2") {
			groups = append(groups, filepath.Join(fields[1], name))
		}
	}
	if err := groups.End(); err != nil {
		return nil, err
	}
	for _, group := range groups {
		if err := os.Mkdir(group, 0o755); err != nil {
			return nil, errors.Join(err, groups.End())
		}
		if err := inheritCPUs(group); err != nil {
			return nil, errors.Join(err, groups.End())
		}
	}
	return groups, nil
}

// inheritCPUs gives a group of version 1 the processors of its parent: a new one has none.
func inheritCPUs(group string) error {
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		have, err := os.ReadFile(filepath.Join(group, file))
		if errors.Is(err, fs.ErrNotExist) || err == nil && len(strings.TrimSpace(string(have))) > 0 {
			continue
		}
		if _, err := os.Stat(filepath.Join(group, "cgroup.controllers")); err == nil {
			continue
		}
		parent, err := os.ReadFile(filepath.Join(filepath.Dir(group), file))
		if err == nil {
			err = os.WriteFile(filepath.Join(group, file), parent, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// End kills what runs in the groups, and removes them with all groups below.
func (g Groups) End() error {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		left := 0
		for _, group := range g {
			n, err := emptied(group)
			if err != nil {
				return err
			}
			left += n
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d control groups could not be removed: %s", left, strings.Join(g, " "))
		}
	}
}

// emptied kills the processes of a group and of those below, removes the groups that are empty, and
// returns how many are left.
func emptied(group string) (left int, err error) {
	var groups []string
	err = filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir():
			groups = append(groups, path)
		}
		return nil
	})
	for i := len(groups) - 1; i >= 0; i-- {
		pids, _ := os.ReadFile(filepath.Join(groups[i], "cgroup.procs")) // the removal below fails if some are left
		for _, pid := range strings.Fields(string(pids)) {
			if n, err := strconv.Atoi(pid); err == nil && n > 0 { // 0: it is in another pid namespace
				_ = syscall.Kill(n, syscall.SIGKILL) // it may have ended
			}
		}
		if err := os.Remove(groups[i]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			left++
		}
	}
	return left, err
}
