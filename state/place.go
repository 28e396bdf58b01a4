package state

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"deployster/internal/base/encryption"
	"deployster/state/place"
)

// Place is where a state is: File or Remote.
type Place = place.Place

// File is a state in a file on this machine.
type File = place.File

// Remote is a state in a store that several machines use.
type Remote = place.Remote

// storage is a backend with the keys of its files.
type storage struct {
	place.Found
	keys *encryption.Keyring // nil = everything is in clear text
	kept *Kept

	arriving bool // also a state that is being moved here is read
}

// storageOf finds a state. At most one keyring may be given.
func storageOf(p Place, keys ...*encryption.Keyring) (storage, error) {
	found, err := p.Find()
	s := storage{Found: found}
	for _, k := range keys {
		s.keys = k
	}
	return s, err
}

// snapshot reads the state; a state that does not exist is an empty Snapshot.
func (s storage) snapshot() (Snapshot, error) {
	data, err := s.Read()
	if errors.Is(err, os.ErrNotExist) {
		return Snapshot{Format: Format}.Clone(), nil
	}
	if err != nil {
		return Snapshot{}, refuse(err, "Cannot read the state file", "%s: %s. Nothing was changed.", s.State, err)
	}
	if data, err = s.decrypt(s.State, data); err != nil {
		return Snapshot{}, err
	}
	snapshot, err := s.kept.Parse(s.State, data)
	if err == nil && snapshot.ArrivesFrom != "" && !s.arriving {
		return Snapshot{}, notArrived(s.State, snapshot.ArrivesFrom)
	}
	return snapshot, err
}

// journalBytes reads the journal that an earlier command left behind, if there is one.
func (s storage) journalBytes() (data []byte, there bool, err error) {
	data, err = s.ReadJournal()
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, refuse(err, "Cannot read the journal", "%s: %s. Nothing was changed.", s.Journal, err)
	}
	return data, true, nil
}

// save replaces the state, keeps a copy, and publishes what other projects may read of it. An error that wraps ErrNoCopy means that the
// state was written.
func (s storage) save(next Snapshot) error {
	data, err := s.write(next)
	if err != nil {
		return err
	}
	if err := s.keepCopy(next, data); err != nil {
		return refuse(fmt.Errorf("%w: %w", ErrNoCopy, err), "Cannot keep a copy of the state",
			"%s: %s. The state file itself is written and complete. Check the disk and the permissions of that directory.", s.Copies, err)
	}
	return s.publish(next)
}

// write replaces the state, and returns its bytes.
func (s storage) write(next Snapshot) ([]byte, error) {
	data, err := s.encrypt(next)
	if err == nil {
		err = s.Write(next.Serial, data)
	}
	if err != nil {
		return nil, refuse(err, "Cannot write the state file", "%s: %s. Check the disk and the permissions of the directory. The record "+
			"of an apply is in the journal next to it, and the next command merges it.", s.State, err)
	}
	return data, nil
}

// keepCopy stores a copy of a state that was just written, and removes the oldest copies.
// Of consecutive repairs it keeps only the last copy, so that they push out no others.
func (s storage) keepCopy(next Snapshot, data []byte) error {
	serial, runs := next.Serial, next.Applied
	if err := s.WriteCopy(serial, data); err != nil {
		return err
	}
	repairs := len(runs) > 1 && runs[len(runs)-1].Watch && runs[len(runs)-2].Watch
	list, err := s.ListCopies()
	if err != nil {
		return err
	}
	// A copy with a later serial belongs to a state that was lost: it stays.
	older := slices.DeleteFunc(list, func(c place.CopyFile) bool { return c.Serial > serial })
	for i, c := range older {
		if i < len(older)-s.MaxCopies || repairs && c.Serial == serial-1 {
			err = errors.Join(err, s.RemoveCopy(c.Serial))
		}
	}
	return err
}
