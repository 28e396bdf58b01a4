package proc

import (
	"fmt"
	"os"
	"strings"
)

// Status is a process at the moment when it was asked for. The zero Status is that of a
// process that there is not.
type Status struct {
	Name    string // of its program, at most 15 bytes
	Letter  byte   // of its state, such as T for a suspended one
	Started string // in ticks since the machine was started: numbers of processes come again, with another time
}

// Of returns the status of a process.
func Of(pid int) Status {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Status{}
	}
	return parse(string(stat))
}

// parse reads a line of /proc/PID/stat. What is no such line is a process that there is not.
func parse(stat string) Status {
	open, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return Status{}
	}
	fields := strings.Fields(stat[end+1:])
	if len(fields) < 20 {
		return Status{}
	}
	return Status{Name: stat[open+1 : end], Letter: fields[0][0], Started: fields[19]}
}

// Ended reports whether the process runs no more: it is not there, or only its number
// still is, until somebody has waited for it.
func (s Status) Ended() bool { return s.Letter == 0 || s.Letter == 'Z' || s.Letter == 'X' }

// Since returns Started of a process that has not ended, and "" of one that has.
func (s Status) Since() string {
	if s.Ended() {
		return ""
	}
	return s.Started
}
