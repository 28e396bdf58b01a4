package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Holder describes the process that holds a lock. It is written into the lock file for
// people to read; only the kernel knows whether the lock is held.
type Holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Command string    `json:"command"`
	Since   time.Time `json:"since"`
}

// String describes the holder for a message.
func (h Holder) String() string {
	return fmt.Sprintf("%s (process %d on %s, since %s)", h.Command, h.PID, h.Host, h.Since.Format(time.RFC3339))
}

// LockedError reports that another process holds the lock.
type LockedError struct {
	Path   string
	Holder *Holder // nil when the lock file does not name it
}

func (e *LockedError) Error() string {
	if e.Holder == nil {
		return fmt.Sprintf("%s is locked by another process", e.Path)
	}
	return fmt.Sprintf("%s is locked by %s", e.Path, e.Holder)
}

// Lock is a held lock on a file that exists only for it. The kernel releases it when its
// process ends, however it ends, so nobody ever has to unlock by hand. The file stays,
// because another process may be about to lock it, unless all that lock it check InPlace.
type Lock struct {
	f         *os.File
	exclusive bool
}

// TryLock takes the lock at path, shared or exclusively, and fails at once with a
// *LockedError if another process holds it. The command is for display. A shared lock
// needs only a readable file.
func TryLock(path string, exclusive bool, command string) (*Lock, error) {
	// flock, not fcntl: a POSIX lock is lost as soon as any descriptor of the
	// file is closed in this process. os.OpenFile sets O_CLOEXEC, so that no
	// child keeps the lock when this process is gone.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil && !exclusive {
		f, err = forReading(path, err)
	}
	if err != nil {
		return nil, err
	}
	if f == nil {
		return &Lock{}, nil
	}
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	for {
		err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		locked := &LockedError{Path: path, Holder: readHolder(f)}
		return nil, errors.Join(locked, f.Close())
	}
	if err != nil {
		return nil, errors.Join(&os.PathError{Op: "flock", Path: path, Err: err}, f.Close())
	}
	writeHolder(f, command)
	return &Lock{f: f, exclusive: exclusive}, nil
}

// forReading opens a lock file that cannot be written, for a shared lock. It returns nil if the
// file does not exist on a read-only file system: nobody can lock there, and no lock is needed.
func forReading(path string, cannot error) (*os.File, error) {
	if !errors.Is(cannot, syscall.EROFS) && !errors.Is(cannot, os.ErrPermission) {
		return nil, cannot
	}
	f, err := os.Open(path)
	switch missing := errors.Is(err, os.ErrNotExist); {
	case missing && errors.Is(cannot, syscall.EROFS):
		return nil, nil
	case missing:
		return nil, cannot // the file had to be created, because it does not exist
	}
	return f, err
}

// pollInterval is how often WaitLock tries again: short compared with the 100 ms that a person
// notices.
const pollInterval = 20 * time.Millisecond

// WaitLock is TryLock that waits until the lock is free or ctx ends; the error
// is then the *LockedError joined with the context's cause.
func WaitLock(ctx context.Context, path string, exclusive bool, command string) (*Lock, error) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		l, err := TryLock(path, exclusive, command)
		var locked *LockedError
		if !errors.As(err, &locked) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// Unlock releases the lock. The file stays.
func (l *Lock) Unlock() error {
	if l.f == nil {
		return nil
	}
	if l.exclusive {
		_ = l.f.Truncate(0) // the holder's name is for display only
	}
	// The unlock is explicit, because a child between fork and exec at this moment has
	// the file open too: closing it here would not release the lock.
	err := syscall.Flock(int(l.f.Fd()), syscall.LOCK_UN)
	return errors.Join(err, l.f.Close())
}

// InPlace reports whether the locked file is the one at its path, and not one that was
// removed before it was locked.
func (l *Lock) InPlace() bool {
	if l.f == nil {
		return true
	}
	have, err := l.f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(l.f.Name())
	return err == nil && os.SameFile(have, there)
}

// Remove removes the file of a lock that is InPlace and exclusive, and releases the lock.
// From then on another process may hold the lock.
func (l *Lock) Remove() error { return errors.Join(os.Remove(l.f.Name()), l.Unlock()) }

// writeHolder writes the holder for those who find the lock held. It is not part of the
// locking, so its failures are ignored.
func writeHolder(f *os.File, command string) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	b, err := json.Marshal(Holder{PID: os.Getpid(), Host: host, Command: command, Since: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return
	}
	b = append(b, '\n')
	if _, err := f.WriteAt(b, 0); err == nil {
		_ = f.Truncate(int64(len(b)))
	}
}

func readHolder(f *os.File) *Holder {
	b := make([]byte, 4096)
	n, _ := f.ReadAt(b, 0) // io.EOF of a short file is expected
	line, _, _ := strings.Cut(string(b[:n]), "\n")
	var h Holder
	if json.Unmarshal([]byte(line), &h) != nil || h.PID == 0 {
		return nil
	}
	if host, err := os.Hostname(); err == nil && host == h.Host && errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH) {
		return nil // a note left by a process that is gone
	}
	return &h
}
