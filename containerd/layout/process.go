package layout

import (
	"bytes"
	"fmt"
	"os"
)

// ProcessState returns the letter of a process's state; Z = it has ended.
func ProcessState(pid int) byte {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 'Z'
	}
	// The name before it may hold anything.
	if i := bytes.LastIndex(stat, []byte(") ")); i >= 0 && i+2 < len(stat) {
		return stat[i+2]
	}
	return 'Z'
}

// Exists reports whether there is a file of a name.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
