package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// suite runs all tests, and then looks whether anything of them is left on this
// machine: a process, a mount, a cgroup, a file in a temporary or a run-time
// directory. All that they make is below one directory, which tells theirs from
// that of others.
type suite struct {
	*testing.M
	dir   string
	start time.Time
}

// newSuite must be made before anything else is.
func newSuite(m *testing.M) (*suite, error) {
	dir, err := os.MkdirTemp("", "ds") // short, because of the sockets in it
	if err != nil {
		return nil, err
	}
	return &suite{M: m, dir: dir, start: time.Now()}, os.Setenv("TMPDIR", dir)
}

// Run runs the tests. With something left a run that was good is not.
func (s *suite) Run() int {
	code := s.M.Run()
	left := s.left()
	for end := time.Now().Add(20 * time.Second); len(left) > 0 && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		left = s.left()
	}
	for _, l := range left {
		fmt.Printf("left behind by the tests: %s\n", l)
	}
	if err := os.RemoveAll(s.dir); err != nil {
		fmt.Println(err)
		return 1
	}
	if len(left) > 0 && code == 0 {
		return 1
	}
	return code
}

func (s *suite) left() (left []string) {
	for line := range strings.Lines(users(s.dir)) {
		left = append(left, strings.TrimSpace(line))
	}
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environs {
		// Servers and shims have their programs on PATH.
		if b, err := os.ReadFile(file); err == nil && strings.Contains(string(b), s.dir+"/d") {
			left = append(left, "process "+filepath.Base(filepath.Dir(file)))
		}
	}
	entries, _ := os.ReadDir(s.dir)
	for _, e := range entries {
		// The programs that the scripts run are there until this process ends.
		if !strings.HasPrefix(e.Name(), "testscript-main") {
			left = append(left, filepath.Join(s.dir, e.Name()))
		}
	}
	return append(left, s.emptyCgroups()...)
}

// emptyCgroups lists those of containers that were made since the start and
// have no process.
func (s *suite) emptyCgroups() (left []string) {
	for _, pattern := range []string{"/sys/fs/cgroup/*/cgroup.procs", "/sys/fs/cgroup/*/*/cgroup.procs"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			dir := filepath.Dir(f)
			id, _, ok := strings.Cut(filepath.Base(dir), "-")
			info, err := os.Stat(dir)
			if !ok || len(id) != 16 || strings.Trim(id, "0123456789abcdef") != "" || err != nil || info.ModTime().Before(s.start) {
				continue
			}
			if b, err := os.ReadFile(f); err == nil && len(b) == 0 {
				left = append(left, "cgroup "+dir)
			}
		}
	}
	return left
}
