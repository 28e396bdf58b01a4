package sharedlog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"deployster/internal/base/proc"
)

// Presence is a directory of this machine with a file for each claim, which the claim's
// process locks. An unlocked file proves that the process is dead. A missing file
// proves nothing: the claim may be another machine's.
type Presence string

// Shown is the file of a claim of this process. A nil Shown does nothing.
type Shown struct {
	file *os.File
	path string
	log  string
}

// Holder is the process of a claim that may hold a log, or held it.
type Holder struct {
	N         uint64 `json:"n"` // the number of the entry that opened the log
	PID       int    `json:"pid"`
	Started   string `json:"started"`   // of the process: a process id that is used again has another time
	Namespace string `json:"namespace"` // in which PID is the number of the process
	By        By     `json:"by"`
}

// Show creates the file of a claim, which names its log. If Show fails, others have to wait longer, and cannot end this process
// when they have taken over its claim.
func (p Presence) Show(claim, log string) *Shown {
	if p == "" || os.MkdirAll(string(p), 0o700) != nil {
		return nil
	}
	path := filepath.Join(string(p), claim)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		_, _ = f.Close(), os.Remove(path)
		return nil
	}
	_, _ = f.WriteString(log + "\n") // without it the file only stays longer
	return &Shown{file: f, path: path, log: log}
}

// Holds records that the claim holds the log from entry n on; 0 = it does not, and waits for it.
func (s *Shown) Holds(n uint64, by By) error {
	if s == nil {
		return nil
	}
	text := []byte(s.log + "\n")
	if n > 0 {
		me := Holder{N: n, PID: os.Getpid(), Started: proc.Of(os.Getpid()).Started, Namespace: namespace(), By: by}
		line, err := json.Marshal(me)
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	if _, err := s.file.WriteAt(text, 0); err != nil {
		return err
	}
	return s.file.Truncate(int64(len(text)))
}

// End removes the file of a claim that holds nothing. With held it leaves the file unlocked, as a process that is killed does.
func (s *Shown) End(held bool) {
	if s == nil {
		return
	}
	if !held {
		_ = os.Remove(s.path) // a file that stays reports only that its process is dead
	}
	_ = s.file.Close()
}

// namespace returns a name of the process id namespace of this process.
func namespace() string {
	name, _ := os.Readlink("/proc/self/ns/pid") // "" = unknown
	return name
}

// read returns the log of a claim, and the process that holds it or held it; N = 0: it has only waited.
func (p Presence) read(claim string) (log string, h Holder) {
	text, err := os.ReadFile(filepath.Join(string(p), claim))
	if err != nil {
		return "", h
	}
	log, mark, _ := strings.Cut(string(text), "\n")
	if line, _, whole := strings.Cut(mark, "\n"); !whole || json.Unmarshal([]byte(line), &h) != nil {
		h = Holder{}
	}
	return log, h
}

// claims lists the claims of a log.
func (p Presence) claims(log string) (list []string) {
	if p == "" || log == "" {
		return nil
	}
	files, _ := os.ReadDir(string(p)) // what cannot be read now is found by the next one
	for _, file := range files {
		if of, _ := p.read(file.Name()); of == log {
			list = append(list, file.Name())
		}
	}
	return list
}

// Sweep removes the files of dead processes that had claims of a log. Who calls it has the
// log by a claim of its own: nothing is to be proven of the others any more.
func (p Presence) Sweep(log string) {
	for _, claim := range p.claims(log) {
		if p.Dead(claim) {
			_ = os.Remove(filepath.Join(string(p), claim))
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
