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

// Show creates the file of a claim. end(false) removes it. end(true) leaves it unlocked, as a process that is
// killed does: the claim may still hold a log. If Show fails, others only have to wait longer for the log.
func (p Presence) Show(claim string) (end func(held bool)) {
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
	return func(held bool) {
		if !held {
			_ = os.Remove(path) // a file that stays says only that its process is dead
		}
		_ = f.Close()
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
