package proc

import "strings"

// Status is the status of a process when it was read. The zero Status means that the
// process does not exist.
type Status struct {
	Name    string // of its program, at most 15 bytes
	Letter  byte   // of its state, such as T for a suspended one
	Started string // in ticks since the machine was started: a process id that is used again has another time
}

// parse parses a line of /proc/PID/stat. It returns the zero Status for any other text.
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

// Ended reports whether the process runs no more: it does not exist, or is a zombie until
// its parent has waited for it.
func (s Status) Ended() bool { return s.Letter == 0 || s.Letter == 'Z' || s.Letter == 'X' }

// Since returns Started of a process that has not ended, else "".
func (s Status) Since() string {
	if s.Ended() {
		return ""
	}
	return s.Started
}
