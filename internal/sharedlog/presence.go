package sharedlog

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Presence is a directory of this machine with a file for each claim, which the claim's
// process locks. An unlocked file proves that the process is dead. A missing file
// proves nothing: the claim may be another machine's.
type Presence string

// Show creates the file of a claim, which names its log. end(false) removes it. end(true) leaves it unlocked, as a
// process that is killed does: the claim may still hold the log. If Show fails, others only have to wait longer.
func (p Presence) Show(claim, log string) (end func(held bool)) {
	none := func(bool) {}
	if p == "" || os.MkdirAll(string(p), 0o700) != nil {
		return none
	}
	path := filepath.Join(string(p), claim)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return none
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		_, _ = f.Close(), os.Remove(path)
		return none
	}
	_, _ = f.WriteString(log) // without it the file only stays longer
	return func(held bool) {
		if !held {
			_ = os.Remove(path) // a file that stays says only that its process is dead
		}
		_ = f.Close()
	}
}

// Sweep removes the files of dead processes that had claims of a log. Who calls it has the
// log by a claim of its own: nothing is to be proven of the others any more.
func (p Presence) Sweep(log string) {
	if p == "" || log == "" {
		return
	}
	files, _ := os.ReadDir(string(p)) // the next one sweeps what cannot be read now
	for _, file := range files {
		path := filepath.Join(string(p), file.Name())
		if of, err := os.ReadFile(path); err == nil && string(of) == log && p.Dead(file.Name()) {
			_ = os.Remove(path)
		}
	}
}

// Dead reports whether the process of a claim is surely dead.
func (p Presence) Dead(claim string) bool {
	if p == "" || claim == "" || claim != filepath.Base(claim) {
		return false
	}
	path := filepath.Join(string(p), claim)
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // only its lock was tested
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil
}
