package place

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
	"deployster/internal/base/encryption"
)

// File is a state in a file on this machine. The lock, the journal and the copies are
// next to it. If File is a symbolic link, they are next to its target, so that all names of
// one state share them, even if the target does not exist yet.
type File string

// String returns the path.
func (f File) String() string { return string(f) }

// Mark identifies the file and its last modification.
func (f File) Mark(context.Context) (string, error) {
	var stat unix.Stat_t
	switch err := unix.Stat(string(f), &stat); {
	case errors.Is(err, os.ErrNotExist):
		return "", nil
	case err != nil:
		return "", &os.PathError{Op: "stat", Path: string(f), Err: err}
	}
	return fmt.Sprint(stat.Ino, stat.Size, stat.Mtim.Nano()), nil
}

func (f File) Find() (Found, error) {
	path := string(f)
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return Found{}, diag.Because(err, "No such directory",
			"The state file is to be %s, but the directory %s does not exist. Create it, or name another file with -state.", path, dir)
	} else if err == nil && !info.IsDir() {
		return Found{}, diag.Because(os.ErrInvalid, "Not a directory", "The state file is to be %s, but %s is not a directory.", path, dir)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return Found{}, diag.Because(os.ErrInvalid, "Not a regular file", "The state file is to be %s, which is not a regular file. "+
			"Name another file with -state.", path)
	}
	path, err := durable.Follow(path)
	if err != nil {
		return Found{}, diag.Because(err, "Cannot follow the state file's link", "%s. Name another file with -state.", err)
	}
	local := localFile{state: path, journal: path + ".journal", lockFile: path + ".lock", copies: path + ".copies"}
	return Found{Backend: local, Names: Names{State: path, Journal: local.journal, Copies: local.copies, CopyName: local.copyPath,
		MaxCopies: MaxCopies}}, nil
}

// localFile is a state on a file system of this machine.
type localFile struct {
	state, journal, lockFile string
	copies                   string // a directory
}

func (f localFile) Read() ([]byte, error)             { return os.ReadFile(f.state) }
func (f localFile) Write(_ uint64, data []byte) error { return durable.WriteFile(f.state, data, 0o600) }
func (f localFile) ReadJournal() ([]byte, error)      { return os.ReadFile(f.journal) }
func (f localFile) CreateJournal(string, string) (Appender, error) {
	return durable.CreateLog(f.journal, 0o600)
}
func (f localFile) RemoveJournal() error              { return durable.Remove(f.journal) }
func (f localFile) AtLarge() bool                     { return false }
func (f localFile) Run() string                       { return "" }
func (f localFile) LeftJournals(string) []LeftJournal { return nil }

// copyPath returns the path of a copy. The names sort by serial, for people who list the
// directory.
func (f localFile) copyPath(serial uint64) string { return filepath.Join(f.copies, copyName(serial)) }

func copyName(serial uint64) string { return fmt.Sprintf("%010d.json", serial) }

// serialOf returns the serial of a copy from the name of its file; false = it is not a copy.
func serialOf(name string) (serial uint64, ours bool) {
	_, err := fmt.Sscanf(name, "%d.json", &serial)
	return serial, err == nil && name == copyName(serial)
}

func (f localFile) ReadCopy(serial uint64) ([]byte, error) { return os.ReadFile(f.copyPath(serial)) }
func (f localFile) RemoveCopy(serial uint64) error         { return os.Remove(f.copyPath(serial)) }

// WriteCopy writes a separate file, not a link: damage to the state file must not damage
// its copy.
func (f localFile) WriteCopy(serial uint64, data []byte) error {
	if err := os.Mkdir(f.copies, 0o700); err == nil {
		err = durable.SyncDir(filepath.Dir(f.copies))
		if err != nil {
			return err
		}
	} else if !errors.Is(err, os.ErrExist) {
		return err
	}
	return durable.WriteFile(f.copyPath(serial), data, 0o600)
}

// ListCopies ignores files with other names: deployster did not write them.
func (f localFile) ListCopies() ([]CopyFile, error) {
	entries, err := os.ReadDir(f.copies)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []CopyFile
	for _, e := range entries {
		serial, ours := serialOf(e.Name())
		if !ours {
			continue
		}
		c := CopyFile{Serial: serial}
		if info, err := e.Info(); err == nil {
			c.At = info.ModTime().UTC()
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b CopyFile) int { return cmp.Compare(a.Serial, b.Serial) })
	return out, nil
}

// SetAside renames the state file to the first free name.
func (f localFile) SetAside() (string, error) {
	if _, err := os.Lstat(f.state); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.aside-%d", f.state, n)
		err := os.Link(f.state, aside) // fails if the name is taken, unlike a rename
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err == nil {
			err = durable.SyncDir(filepath.Dir(f.state))
		}
		if err != nil {
			return "", diag.Because(err, "Cannot move the state file aside", "%s to %s: %s. Nothing was changed.", f.state, aside, err)
		}
		return aside, nil
	}
}

// Clean removes half-written files of commands that were killed: no other process writes
// here now. Such a file may have in clear text what is encrypted everywhere else. A file
// that cannot be removed does no harm.
func (f localFile) Clean() {
	_ = durable.RemoveTemporary(filepath.Dir(f.state), func(name string) bool {
		return name == filepath.Base(f.state) || f.isOutputs(name)
	})
	_ = durable.RemoveTemporary(f.copies, func(name string) bool {
		_, ours := serialOf(name)
		return ours
	})
}

func (f localFile) Clear() []string {
	if !isEncrypted(f.state) {
		return nil
	}
	copies, _ := filepath.Glob(durable.Pattern(f.copies) + "/*.json") // the patterns are valid
	aside, _ := filepath.Glob(durable.Pattern(f.state) + ".aside-*")
	return slices.DeleteFunc(append(copies, aside...), isEncrypted)
}

// isEncrypted reports whether a file exists and is encrypted, judged by its first bytes.
func isEncrypted(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	head := make([]byte, 64)
	n, _ := f.Read(head)
	return encryption.Is(head[:n])
}

// Warning returns a warning if the state is on a network file system.
func (f localFile) Warning() *diag.Diagnostic {
	name, err := durable.SharedFS(f.state)
	if err != nil || name == "" {
		return nil
	}
	return diag.Warningf("The state is on a network file system",
		"%s is on %s, where a lock may hold on one machine only. Let one machine at a time apply, or keep the state on "+
			"a local disk.", f.state,
		name)
}

func (f localFile) Lock(ctx context.Context, exclusive bool, o Options) (Lock, error) {
	held, err := durable.TryLock(f.lockFile, exclusive, o.Command)
	var locked *durable.LockedError
	if o.Wait > 0 && errors.As(err, &locked) {
		if o.Waiting != nil {
			o.Waiting(holder(locked))
		}
		wait, cancel := context.WithTimeout(ctx, o.Wait)
		defer cancel()
		held, err = durable.WaitLock(wait, f.lockFile, exclusive, o.Command)
	}
	if err == nil {
		return held, nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	return nil, f.lockError(err, o.Wait)
}

// holder names the process that holds a lock, as far as it is known.
func holder(e *durable.LockedError) string {
	if e.Holder == nil {
		return "another deployster process"
	}
	return diag.Visible(e.Holder.String())
}

func (f localFile) lockError(err error, waited time.Duration) error {
	var locked *durable.LockedError
	switch {
	case errors.As(err, &locked):
	case errors.Is(err, os.ErrPermission):
		return diag.Because(err, "No permission for this state", "This user may not write next to the state file, in %s (%s). Nothing "+
			"was changed. Run the command as a user who may, or name another state file with -state. The containerd that deployster "+
			"starts needs root.",
			filepath.Dir(f.lockFile), err)
	default:
		return diag.Because(err, "Cannot lock the state", "%s: %s. Nothing was changed. The directory of the state file must be writable.",
			f.lockFile, err)
	}
	todo := "Wait until that has ended (-lock-timeout 5m does it for you), or end it"
	if waited > 0 {
		todo = fmt.Sprintf("Gave up waiting after %s. Wait longer, or end it", waited)
	}
	return diag.Because(fmt.Errorf("%w: %w", ErrLocked, err), "The state is locked",
		"%s is in use by %s. %s; the lock goes with its process, and nothing has to be unlocked by hand.", f.state, holder(locked), todo)
}

// Use tries to take the lock.
func (f localFile) Use() (string, bool) {
	held, err := durable.TryLock(f.lockFile, false, "deployster")
	if locked, ok := errors.AsType[*durable.LockedError](err); ok {
		return holder(locked), true
	}
	if err == nil {
		_ = held.Unlock() // it was taken only to see whether another process holds it
	}
	return "", false
}
