package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// hostileLab is where they run: one data directory for all.
type hostileLab struct {
	root, data string
}

func address(name string) string {
	return regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "_")
}

func newHostileLab(t *testing.T, cases []hostile) *hostileLab {
	t.Helper()
	data, err := os.MkdirTemp("", "dh") // short, because of its sockets
	if err != nil {
		t.Fatal(err)
	}
	lab := &hostileLab{root: t.TempDir(), data: data}
	t.Cleanup(func() {
		if err := os.RemoveAll(data); err != nil {
			t.Error(err)
		}
		if left := waitGone(data); left != "" {
			t.Errorf("left behind: %s", left)
		}
	})
	image := filepath.Join(lab.root, "image")
	files := map[string]string{"type": hostileCommand}
	for _, c := range cases {
		for step, script := range map[string]string{"init": c.init, "state": c.state, "act": c.action} {
			if script != "" {
				files["cases/"+address(c.name)+"."+step] = script + "\nexit\n"
			}
		}
	}
	writeFiles(t, image, files)
	probe := exec.Command("go", "build", "-o", filepath.Join(image, "probe"), "./testdata/hostile/probe")
	probe.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := probe.CombinedOutput(); err != nil {
		t.Fatalf("building the probe: %v\n%s", err, out)
	}
	fillBusybox(t, image)
	writeFiles(t, image, map[string]string{"suid/busybox": string(readBytes(t, busybox))})
	if err := os.Chmod(filepath.Join(image, "suid", "busybox"), 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	lab.must(t, "image", "pack", "-t", "test/hostile:1", "-entrypoint", "/type", image)
	lab.packOthers(t, image)
	return lab
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
}

func readBytes(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func fillBusybox(t *testing.T, dir string) {
	t.Helper()
	writeFiles(t, dir, map[string]string{"bin/busybox": string(readBytes(t, busybox)), "tmp/.keep": ""})
	for _, applet := range append(applets, "setsid", "yes", "base64", "rev", "seq", "awk", "ln", "touch", "chmod", "cp", "usleep", "grep",
		"find", "basename") {
		if err := os.Symlink("busybox", filepath.Join(dir, "bin", applet)); err != nil {
			t.Fatal(err)
		}
	}
}

func (l *hostileLab) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "deployster", args...)
	cmd.Dir = dir
	root, _ := os.Getwd()
	cmd.Env = append(os.Environ(), "DEPLOYSTER_DATA_DIR="+l.data, "DEPLOYSTER_IDLE_EXIT=30s", "DEPLOYSTER_KEEP=0s",
		"DEPLOYSTER_RUNC="+safeRunc(root), "HOME="+l.root)
	return cmd
}

func (l *hostileLab) must(t *testing.T, args ...string) {
	t.Helper()
	if out, err := l.command(t.Context(), l.root, args...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
}

// watchPeak looks at a process until it ends, and gives the most memory that it
// had. (What wait tells includes this test's own, from before the exec.)
func watchPeak(pid int) func() int64 {
	stop, got := make(chan struct{}), make(chan int64)
	go func() {
		var peak int64
		for {
			select {
			case <-stop:
				got <- peak
				return
			case <-time.After(5 * time.Millisecond):
				peak = max(peak, memoryPeak(pid))
			}
		}
	}()
	return func() int64 { close(stop); return <-got }
}

// memoryPeak is the most memory that a process ever had, in bytes.
func memoryPeak(pid int) (bytes int64) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kb int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kb); err == nil {
			return kb << 10
		}
	}
	return 0
}

// serverPeak is the most memory that the lab's containerd ever had.
func (l *hostileLab) serverPeak(t *testing.T) int64 {
	t.Helper()
	var pid int
	lock, err := os.ReadFile(filepath.Join(l.data, "server.lock"))
	if _, err2 := fmt.Sscanf(string(lock), "process %d", &pid); err != nil || err2 != nil {
		t.Fatalf("no server: %v, %v", err, err2)
	}
	return memoryPeak(pid)
}

// nothingLeft looks for what runs leave behind: shims, mounts, files with input
// or output, and processes of the images, which carry a mark.
func (l *hostileLab) nothingLeft(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		var left []string
		for line := range strings.Lines(users(l.data) + "\n" + users("sleep\x0031337")) {
			if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, "deployster-containerd") {
				left = append(left, line)
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("left behind:\n%s", strings.Join(left, "\n"))
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
