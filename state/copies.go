package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"deployster/internal/base/durable"
	"deployster/internal/base/encryption"
)

// MaxCopies is how many earlier state files are kept beside the state.
const MaxCopies = 10

// Copy is a state file of an earlier moment, kept beside the state.
type Copy struct {
	Serial    uint64    `json:"serial"`
	Path      string    `json:"path"`
	At        time.Time `json:"at"`        // when it was written
	Resources int       `json:"resources"` // how many it holds
	Encrypted bool      `json:"encrypted"`
	Err       error     `json:"-"` // why it cannot be read; nil = it is whole
}

// copyName sorts by serial, for people who list the directory.
func copyName(serial uint64) string { return fmt.Sprintf("%010d.json", serial) }

// keep stores a copy of a state that was just written, and lets go of the
// oldest. It is a file of its own, not a link: what damages the state file must
// not damage its copy.
func keep(dir string, serial uint64, data []byte) error {
	if err := os.Mkdir(dir, 0o700); err == nil {
		err = durable.SyncDir(filepath.Dir(dir))
		if err != nil {
			return err
		}
	} else if !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := durable.WriteFile(filepath.Join(dir, copyName(serial)), data, 0o600); err != nil {
		return err
	}
	serials, err := kept(dir)
	if err != nil {
		return err
	}
	// What is of a later serial belongs to a state that was lost: it stays.
	older := slices.DeleteFunc(serials, func(s uint64) bool { return s > serial })
	for len(older) > MaxCopies {
		if err := os.Remove(filepath.Join(dir, copyName(older[0]))); err != nil {
			return err
		}
		older = older[1:]
	}
	return nil
}

// clean removes what commands that were killed have left half written: nobody
// else writes here now. It may hold what is encrypted everywhere else. What cannot
// be removed is in nobody's way.
func (p paths) clean() {
	_ = durable.RemoveTemporary(filepath.Dir(p.state), func(name string) bool { return name == filepath.Base(p.state) })
	_ = durable.RemoveTemporary(p.copies, func(name string) bool {
		_, ours := serialOf(name)
		return ours
	})
}

// serialOf gives the serial of the copy that a file is by its name, if it is one.
func serialOf(name string) (serial uint64, ours bool) {
	_, err := fmt.Sscanf(name, "%d.json", &serial)
	return serial, err == nil && name == copyName(serial)
}

// kept lists the serials of the copies, oldest first. What is named otherwise
// is not ours.
func kept(dir string) ([]uint64, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []uint64
	for _, e := range entries {
		if serial, ours := serialOf(e.Name()); ours {
			out = append(out, serial)
		}
	}
	slices.Sort(out)
	return out, nil
}

// Copies lists the copies of a state, oldest first. It changes nothing and
// needs no lock: a copy is replaced as a whole.
func Copies(path string, keys ...*encryption.Keyring) ([]Copy, error) {
	p, err := resolve(path, keys...)
	if err != nil {
		return nil, err
	}
	serials, err := kept(p.copies)
	if err != nil {
		return nil, refuse(err, "Cannot read the copies of the state", "%s: %s.", p.copies, err)
	}
	var out []Copy
	for _, serial := range serials {
		c := Copy{Serial: serial, Path: filepath.Join(p.copies, copyName(serial))}
		if info, err := os.Stat(c.Path); err == nil {
			c.At = info.ModTime().UTC()
		}
		s, err := readCopy(p, serial)
		c.Encrypted = isSealed(c.Path)
		c.Resources, c.Err = len(s.Resources), err
		out = append(out, c)
	}
	return out, nil
}

// readCopy reads one copy, which must be a whole state file of that serial.
func readCopy(p paths, serial uint64) (Snapshot, error) {
	path := filepath.Join(p.copies, copyName(serial))
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return Snapshot{}, refuse(err, "No such copy", "There is no copy of the state with the serial %d (%s). `deployster state copies` lists them.", serial, path)
	}
	if err != nil {
		return Snapshot{}, refuse(err, "Cannot read a copy of the state", "%s: %s.", path, err)
	}
	if data, err = p.open(path, data); err != nil {
		return Snapshot{}, err
	}
	s, err := parse(path, data)
	if err == nil && s.Serial != serial {
		err = refuse(ErrForeign, "Not the copy that its name says", "%s holds the serial %d.", path, s.Serial)
	}
	return s, err
}

// RestoreResult says what Restore did.
type RestoreResult struct {
	Snapshot Snapshot
	// Aside is where the state file that was there is now; "" = there was none.
	Aside string
	// Journal says that an apply which was interrupted goes on from this very
	// copy: the next command folds its journal in.
	Journal bool
}

// Restore makes the copy with that serial the state. What was there, whole or
// not, is moved aside and never deleted. When the journal of an interrupted
// apply is there, only the copy that it continues fits, and gets the serial it
// had; otherwise the state gets a serial above all others, so that no plan
// made meanwhile fits by accident.
func Restore(ctx context.Context, path string, serial uint64, o Options) (*RestoreResult, error) {
	p, err := resolve(path, o.Keys)
	if err != nil {
		return nil, err
	}
	lock, err := takeLock(ctx, p, true, o)
	if err != nil {
		return nil, err
	}
	out, err := restoreCopy(p, serial)
	if uerr := lock.Unlock(); err == nil {
		err = uerr
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func restoreCopy(p paths, serial uint64) (*RestoreResult, error) {
	s, err := readCopy(p, serial)
	if err != nil {
		return nil, err
	}
	out := &RestoreResult{}
	if out.Journal, err = continues(p, s); err != nil {
		return nil, err
	}
	if !out.Journal {
		serials, err := kept(p.copies)
		if err != nil {
			return nil, refuse(err, "Cannot read the copies of the state", "%s: %s.", p.copies, err)
		}
		s.Serial = serials[len(serials)-1] + 1
		if now, err := readFile(p); err == nil && now.Serial >= s.Serial {
			s.Serial = now.Serial + 1
		}
	}
	if out.Aside, err = moveAside(p.state); err != nil {
		return nil, err
	}
	f := disk()
	if err := f.save(p, s); err != nil {
		return nil, err
	}
	out.Snapshot = s
	return out, nil
}

// continues reports whether there is a journal that goes on from s. One that goes
// on from something else is in the way.
func continues(p paths, s Snapshot) (bool, error) {
	data, there, err := readJournal(p.journal)
	if err != nil || !there {
		return false, err
	}
	records, _, err := decodeJournal(data)
	if err == nil {
		if records, err = openRecords(p, records); errors.Is(err, encryption.ErrNoKey) || errors.Is(err, encryption.ErrWrongKey) {
			return false, err
		}
	}
	if err == nil && len(records) == 0 {
		return false, nil // its apply died before it was begun
	}
	if err != nil || records[0].Begin == nil {
		return false, refuse(ErrDamaged, "The journal is in the way",
			"%s is there and cannot be read, so it is not known which state it continues. Nothing was changed. Move the journal away first; what it recorded is then forgotten.", p.journal)
	}
	b := records[0].Begin
	if b.Lineage == s.Lineage && b.Serial == s.Serial {
		return true, nil
	}
	return false, refuse(ErrForeign, "The journal is in the way",
		"%s is of an interrupted apply that began with the serial %d. Nothing was changed. Restore that serial, and what the apply recorded is kept; or move the journal away first, to forget it.", p.journal, b.Serial)
}

// moveAside renames the state file that is to be replaced, if there is one.
func moveAside(path string) (string, error) {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.aside-%d", path, n)
		err := os.Link(path, aside) // fails where the name is taken, unlike a rename
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err == nil {
			err = durable.SyncDir(filepath.Dir(path))
		}
		if err != nil {
			return "", refuse(err, "Cannot move the state file aside", "%s to %s: %s. Nothing was changed.", path, aside, err)
		}
		return aside, nil
	}
}
