package sharedlog

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Presence is a directory of this machine in which each claim has a file that its
// process holds locked. A file that is not locked proves that its process is dead.
// That there is none proves nothing: the claim may be another machine's.
type Presence string

// Show makes the file of a claim; hide removes it. A failure costs only patience.
func (p Presence) Show(claim string) (hide func()) {
	if p == "" || os.MkdirAll(string(p), 0o700) != nil {
		return func() {}
	}
	path := filepath.Join(string(p), claim)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return func() {}
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		_, _ = f.Close(), os.Remove(path)
		return func() {}
	}
	return func() { _, _ = os.Remove(path), f.Close() }
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
	defer func() { _ = f.Close() }() // it was only looked at
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil
}
