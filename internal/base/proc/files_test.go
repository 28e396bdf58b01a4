package proc

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestFiles_OfProcessesOnly(t *testing.T) {
	files, err := Files("cmdline")
	if err != nil || !slices.Contains(files, fmt.Sprintf("/proc/%d/cmdline", os.Getpid())) {
		t.Errorf("%v, %v", files, err)
	}
	for _, f := range files {
		if pid := strings.TrimSuffix(strings.TrimPrefix(f, "/proc/"), "/cmdline"); strings.Trim(pid, "0123456789") != "" {
			t.Errorf("%s is of no process", f)
		}
	}
}
