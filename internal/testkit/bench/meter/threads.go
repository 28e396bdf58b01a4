package meter

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// EnoughThreads reports an error if so many threads more are not allowed where this process
// runs: the last hosts would fail after minutes, and leave what they have begun.
func EnoughThreads(wanted int) error {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(groups)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		kind, dir, _ := strings.Cut(rest, ":")
		if kind != "" && kind != "pids" {
			continue
		}
		text, err := os.ReadFile(filepath.Join("/sys/fs/cgroup", kind, dir, "pids.max"))
		if err != nil {
			continue // the other version of cgroups has it, or nobody limits it
		}
		if most, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && most < wanted {
			return fmt.Errorf("it needs up to %d threads, and only %d are allowed here: run it below systemd-run --scope -p "+
				"TasksMax=infinity",
				wanted, most)
		}
	}
	return nil
}
