package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
)

// Place is where a state lies. File gives one. Each function of this package that
// opens, reads or restores a state takes one.
type Place interface {
	String() string         // what a person calls it
	find() (storage, error) // error = no state can lie there
}

// backend keeps the bytes of one state: its document, the journal of the run that
// goes on, and its earlier copies. It knows neither what they mean nor whether
// they are encrypted. What it is asked for and does not have is os.ErrNotExist.
type backend interface {
	// lock waits as the options say; exclusive keeps all others out. The lock goes
	// with its process at the latest. Its errors are for the user.
	lock(ctx context.Context, exclusive bool, o Options) (lock, error)

	read() ([]byte, error)
	write(data []byte) error          // as a whole or not at all
	setAside() (as string, err error) // what is there, so that it can be replaced; "" = nothing is

	readJournal() ([]byte, error)
	createJournal() (appender, error)
	removeJournal() error

	listCopies() ([]copyFile, error) // oldest first
	readCopy(serial uint64) ([]byte, error)
	writeCopy(serial uint64, data []byte) error
	removeCopy(serial uint64) error

	clean()                    // removes what writers that died left half written; the lock is held
	clear() []string           // names what lies beside an encrypted state and is in clear text
	warning() *diag.Diagnostic // why its lock may not hold; nil = it does, as far as is known
}

// lock is held until it is let go of.
type lock interface{ Unlock() error }

// appender is the log that a journal is written to.
type appender interface {
	Reserve(n int64) error
	Release()
	Write(b []byte) (end int64, err error)
	Sync(end int64) error
	Durable() int64
	Close() error
}

// copyFile is a copy as its backend knows it.
type copyFile struct {
	serial uint64
	at     time.Time // when it was written
}

// names are what messages call the parts of a state.
type names struct {
	state, journal, copies string
	copyName               func(serial uint64) string
}

// storage is a backend with the keys of what it keeps.
type storage struct {
	backend
	names
	keys *encryption.Keyring // nil = all is in clear text
}

// storageOf finds a state; of the keyrings there is at most one.
func storageOf(p Place, keys ...*encryption.Keyring) (storage, error) {
	s, err := p.find()
	for _, k := range keys {
		s.keys = k
	}
	return s, err
}

// Unreliable warns of a state in a place where a lock may not hold between
// machines; nil = it does, or it cannot be told.
func Unreliable(p Place) *diag.Diagnostic {
	s, err := p.find()
	if err != nil {
		return nil // said by whoever opens it
	}
	return s.warning()
}

// Clear lists what lies beside an encrypted state and is not encrypted: copies,
// and what was moved aside. It is empty when the state itself is in clear text.
func Clear(p Place) []string {
	s, err := p.find()
	if err != nil {
		return nil
	}
	return s.clear()
}

// snapshot reads the state; one that is not there is an empty Snapshot.
func (s storage) snapshot() (Snapshot, error) {
	data, err := s.read()
	if errors.Is(err, os.ErrNotExist) {
		return Snapshot{Format: Format}.clone(), nil
	}
	if err != nil {
		return Snapshot{}, refuse(err, "Cannot read the state file", "%s: %s. Nothing was changed.", s.state, err)
	}
	if data, err = s.decrypt(s.state, data); err != nil {
		return Snapshot{}, err
	}
	return parse(s.state, data)
}

// journalBytes reads the journal that was left behind, if there is one.
func (s storage) journalBytes() (data []byte, there bool, err error) {
	data, err = s.readJournal()
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, refuse(err, "Cannot read the journal", "%s: %s. Nothing was changed.", s.journal, err)
	}
	return data, true, nil
}

// save replaces the state, and keeps a copy. An error that wraps ErrNoCopy comes
// after the state was written.
func (s storage) save(next Snapshot) error {
	data, err := s.encrypt(next)
	if err == nil {
		err = s.write(data)
	}
	if err != nil {
		return refuse(err, "Cannot write the state file", "%s: %s. See to the disk and to the rights of its directory. "+
			"What an apply has recorded is in the journal beside it, and the next command puts that into the state file.", s.state, err)
	}
	if err := s.keepCopy(next.Serial, data); err != nil {
		return refuse(fmt.Errorf("%w: %w", ErrNoCopy, err), "Cannot keep a copy of the state",
			"%s: %s. The state file itself is written and whole. See to the disk and to the rights of that directory.", s.copies, err)
	}
	return nil
}

// keepCopy stores a copy of a state that was just written, and lets go of the
// oldest.
func (s storage) keepCopy(serial uint64, data []byte) error {
	if err := s.writeCopy(serial, data); err != nil {
		return err
	}
	list, err := s.listCopies()
	if err != nil {
		return err
	}
	// What is of a later serial belongs to a state that was lost: it stays.
	older := slices.DeleteFunc(list, func(c copyFile) bool { return c.serial > serial })
	for len(older) > MaxCopies {
		if err := s.removeCopy(older[0].serial); err != nil {
			return err
		}
		older = older[1:]
	}
	return nil
}
