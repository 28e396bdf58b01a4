package e2e

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/internal/base/proc"
)

// suite runs all tests, and then looks whether anything of them is left on this
// machine: a process, a mount, a cgroup, a file in a temporary or a run-time
// directory. All that they make is below one directory, which tells theirs from
// that of others.
type suite struct {
	*testing.M
	dir               string
	runtimes, clients map[string]bool
}

// newSuite prepares the process for the tests: it stands in the root of the module,
// and temporary files are below a directory of the suite.
func newSuite(m *testing.M) (*suite, error) {
	if err := os.Chdir("../../.."); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ds") // short, because of the sockets in it
	if err == nil {
		err = os.Chmod(dir, 0o711) // a script is somebody else for a moment, who must get through
	}
	if err != nil {
		return nil, err
	}
	return &suite{M: m, dir: dir, runtimes: map[string]bool{}, clients: map[string]bool{}}, os.Setenv("TMPDIR", dir)
}

// Run runs the tests. With something left a run that was good is not.
func (s *suite) Run() int {
	if err := buildHelpers(); err != nil {
		fmt.Println(err)
		return 1
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { defer close(stopped); s.watch(stop) }()
	code := s.M.Run()
	close(stop)
	<-stopped
	if len(s.runtimes) > 0 {
		fmt.Printf("looking for what %d data directories and %d commands left\n", len(s.runtimes), len(s.clients))
	}
	left := s.left()
	for end := time.Now().Add(time.Minute); len(left) > 0 && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
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

// buildHelpers puts the programs that are only the shim, only the agent and only what hosts run
// beside the scripts' command, as a build does: containers start at half the cost. Those of
// internal/testkit/modeltest have the whole program as their shim, as where it is missing.
func buildHelpers() error {
	command, err := exec.LookPath("deployster")
	if err != nil {
		return err
	}
	for name, source := range map[string]string{"shim": "containerd/shim", "agent": "containerd/agent", "host": "internal/onhost"} {
		build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", filepath.Join(filepath.Dir(command), "deployster-"+name),
			"./"+source+"/deployster-"+name)
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("building the %s: %w\n%s", name, err, out)
		}
	}
	return nil
}

func (s *suite) left() (left []string) {
	for line := range strings.Lines(users(s.dir)) {
		left = append(left, strings.TrimSpace(line))
	}
	environs, _ := proc.Files("environ")
	for _, file := range environs {
		// Servers and shims have their programs on PATH.
		if b, err := os.ReadFile(file); err == nil && strings.Contains(string(b), s.dir+"/d") {
			left = append(left, "process "+filepath.Base(filepath.Dir(file)))
		}
	}
	entries, _ := os.ReadDir(s.dir)
	for _, e := range entries {
		// The programs that the scripts run are there until this process ends, and their bundle for hosts.
		if strings.HasPrefix(e.Name(), "testscript-main") || e.Name() == bundlesName {
			continue
		}
		path := filepath.Join(s.dir, e.Name())
		inside, err := os.ReadDir(path)
		if err != nil || len(inside) > 0 {
			left = append(left, fmt.Sprintf("%s: %v", path, inside))
		}
	}
	return append(left, s.runtimeLeft()...)
}

// watch takes note, until stop is closed, of the run-time directories that belong
// to data directories of the tests, and of the clients in them, after which
// containers and their cgroups are named.
func (s *suite) watch(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(25 * time.Millisecond):
		}
		entries, _ := os.ReadDir(s.dir)
		for _, e := range entries {
			s.runtimes[fmt.Sprintf("/run/deployster/%x", sha256.Sum256([]byte(filepath.Join(s.dir, e.Name()))))[:len("/run/deployster/")+12]] = true
		}
		present, _ := os.ReadDir("/run/deployster") // a few, where hundreds have been
		for _, e := range present {
			dir := filepath.Join("/run/deployster", e.Name())
			if !s.runtimes[dir] {
				continue
			}
			clients, _ := os.ReadDir(filepath.Join(dir, "clients"))
			for _, c := range clients {
				s.clients[strings.TrimPrefix(c.Name(), ".")] = true
			}
		}
	}
}

// runtimeLeft lists the run-time directories and the cgroups that are left.
func (s *suite) runtimeLeft() (left []string) {
	for dir := range s.runtimes {
		if exists(dir) {
			left = append(left, dir)
		}
	}
	for id := range s.clients {
		for _, pattern := range []string{"/sys/fs/cgroup/", "/sys/fs/cgroup/*/"} {
			dirs, _ := filepath.Glob(pattern + id + "-*")
			left = append(left, dirs...)
		}
	}
	return left
}
