package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"deployster/internal/base/proc"
)

// waitGone waits until no process and no mount speaks of a directory.
func waitGone(dir string) string {
	deadline := time.Now().Add(time.Minute)
	for {
		left := users(dir)
		if left == "" || time.Now().After(deadline) {
			return left
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// users lists the processes and mounts that speak of a directory.
func users(dir string) string {
	var left []string
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, dir) {
			left = append(left, "mount "+strings.TrimSpace(line))
		}
	}
	processes, _ := proc.Files("cmdline")
	for _, p := range processes {
		line, err := os.ReadFile(p)
		if err == nil && strings.Contains(string(line), dir) {
			left = append(left, "process "+filepath.Base(filepath.Dir(p))+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return strings.Join(left, "\n")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
