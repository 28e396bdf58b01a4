package proc

import (
	"fmt"
	"os"
)

// Of returns the status of a process.
func Of(pid int) Status {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Status{}
	}
	return parse(string(stat))
}
