package proc

import (
	"os"
	"path/filepath"
)

// Files returns the paths of a file of each process, such as /proc/PID/cmdline. A process
// may have ended since. filepath.Glob would list the directory of each process, which
// takes the kernel a tenth of a millisecond.
func Files(name string) ([]string, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.Readdirnames(-1)
	var files []string
	for _, e := range entries {
		if e[0] >= '0' && e[0] <= '9' {
			files = append(files, filepath.Join("/proc", e, name))
		}
	}
	return files, err
}
