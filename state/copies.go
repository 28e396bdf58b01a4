package state

import (
	"bytes"
	"context"
	"errors"
	"os"
	"time"

	"deployster/internal/base/encryption"
	"deployster/state/place"
)

// MaxCopies is how many earlier state files are kept next to a state in a file.
const MaxCopies = place.MaxCopies

// Copy is a state file of an earlier moment, kept next to the state.
type Copy struct {
	Serial    uint64    `json:"serial"`
	Path      string    `json:"path"`
	At        time.Time `json:"at"`        // when it was written
	Resources int       `json:"resources"` // number of entries
	Encrypted bool      `json:"encrypted"`
	Err       error     `json:"-"` // why it cannot be read; nil = it is valid
}

// Copies lists the copies of a state, oldest first. It changes nothing and
// needs no lock: a copy is replaced as a whole.
func Copies(place Place, keys ...*encryption.Keyring) ([]Copy, error) {
	at, err := storageOf(place, keys...)
	if err != nil {
		return nil, err
	}
	list, err := at.copyList()
	if err != nil {
		return nil, err
	}
	var out []Copy
	for _, file := range list {
		c := Copy{Serial: file.Serial, Path: at.CopyName(file.Serial), At: file.At}
		var s Snapshot
		s, c.Encrypted, c.Err = at.copyOf(file.Serial)
		if errors.Is(c.Err, os.ErrNotExist) {
			continue // removed since they were listed
		}
		c.Resources = len(s.Resources)
		out = append(out, c)
	}
	return out, nil
}

// At returns the state with a serial: the present one, or a copy.
func At(place Place, serial uint64, keys ...*encryption.Keyring) (Snapshot, error) {
	if now, _, err := Load(place, keys...); err == nil && now.Serial == serial {
		return now, nil
	}
	at, err := storageOf(place, keys...)
	if err != nil {
		return Snapshot{}, err
	}
	s, _, err := at.copyOf(serial)
	return s, err
}

// copyList lists the copies, oldest first.
func (s storage) copyList() ([]place.CopyFile, error) {
	list, err := s.ListCopies()
	if err != nil {
		return nil, refuse(err, "Cannot read the copies of the state", "%s: %s.", s.Copies, err)
	}
	return list, nil
}

// copyOf reads one copy, which must be a complete state file with that serial.
func (s storage) copyOf(serial uint64) (snapshot Snapshot, encrypted bool, err error) {
	name := s.CopyName(serial)
	data, err := s.ReadCopy(serial)
	if errors.Is(err, os.ErrNotExist) {
		return snapshot, false, refuse(err, "No such copy", "There is no copy of the state with the serial %d (%s). `deployster state "+
			"copies` lists them.", serial, name)
	}
	if err != nil {
		return snapshot, false, refuse(err, "Cannot read a copy of the state", "%s: %s.", name, err)
	}
	encrypted = encryption.Is(data)
	if data, err = s.decrypt(name, data); err != nil {
		return snapshot, encrypted, err
	}
	snapshot, err = Parse(name, data)
	snapshot.ArrivesFrom = "" // what a move has left that was interrupted is whole
	if err == nil && snapshot.Serial != serial {
		err = refuse(ErrForeign, "Serial of a copy does not match its name", "%s has the serial %d.", name, snapshot.Serial)
	}
	return snapshot, encrypted, err
}

// RestoreResult is the result of Restore.
type RestoreResult struct {
	Snapshot Snapshot
	// Aside is the new name of the state file that was replaced; "" = there was none.
	Aside string
	// Journal reports that the journal of an interrupted apply continues this copy: the next
	// command folds that journal in.
	Journal bool
}

// Restore makes the copy with that serial the state. The present state file, damaged or
// not, is moved aside and never deleted. If the journal of an interrupted apply exists,
// only the copy that it continues is accepted, and keeps its serial. Otherwise the state
// gets a serial above all others, so that no plan made in the meantime matches it by
// accident.
func Restore(ctx context.Context, place Place, serial uint64, o Options) (*RestoreResult, error) {
	at, err := storageOf(place, o.Keys)
	if err != nil {
		return nil, err
	}
	o.Salvage = true
	lock, err := at.Lock(ctx, true, o.lock())
	if err != nil {
		return nil, err
	}
	out, err := restoreCopy(at, serial)
	if uerr := lock.Unlock(); err == nil {
		err = uerr
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func restoreCopy(at storage, serial uint64) (*RestoreResult, error) {
	s, _, err := at.copyOf(serial)
	if err != nil {
		return nil, err
	}
	now, unread := at.snapshot()
	if errors.Is(unread, ErrArrives) {
		return nil, unread
	}
	out := &RestoreResult{}
	if at.isSalvaged() || at.isDamaged(unread) {
		s = s.KeepOpen(at.salvage())
	} else if out.Journal, err = continues(at, s); err != nil {
		return nil, err
	} else if unread == nil && !out.Journal {
		s = s.KeepOpen(now)
	}
	if out.Journal && isPresent(at, serial) {
		out.Snapshot = s // writing it again would end its journal in a store
		return out, nil
	}
	if !out.Journal {
		list, err := at.copyList()
		if err != nil {
			return nil, err
		}
		s.Serial = list[len(list)-1].Serial + 1
		if now, err := at.snapshot(); err == nil && now.Serial >= s.Serial {
			s.Serial = now.Serial + 1
		}
	}
	if out.Aside, err = at.SetAside(); err != nil {
		return nil, err
	}
	if err := at.save(s); err != nil {
		return nil, err
	}
	out.Snapshot = s
	return out, nil
}

// isPresent reports whether the copy with that serial equals the present state.
func isPresent(at storage, serial uint64) bool {
	state, err := at.Read()
	if err != nil {
		return false
	}
	earlier, err := at.ReadCopy(serial)
	return err == nil && bytes.Equal(state, earlier)
}

// continues reports whether a journal exists that continues s. A journal that continues
// another state is an error.
func continues(at storage, s Snapshot) (bool, error) {
	data, there, err := at.journalBytes()
	if err != nil || !there {
		return false, err
	}
	records, _, err := decodeJournal(data)
	if err == nil {
		if records, err = openRecords(at, records); errors.Is(err, encryption.ErrNoKey) || errors.Is(err, encryption.ErrWrongKey) {
			return false, err
		}
	}
	if err == nil && len(records) == 0 {
		return false, nil // its apply was killed before the first record was stored
	}
	if err != nil || records[0].Begin == nil {
		return false, refuse(ErrDamaged, "The journal is in the way",
			"%s exists and cannot be read, so it is not known which state it continues. Nothing was changed. Move the journal away first; "+
				"what it recorded is then forgotten.", at.Journal)
	}
	b := records[0].Begin
	if b.Lineage == s.Lineage && b.Serial == s.Serial {
		return true, nil
	}
	return false, refuse(ErrForeign, "The journal is in the way",
		"%s is of an interrupted apply that began with the serial %d. Nothing was changed. Restore that serial, and what the apply "+
			"recorded is kept; or move the journal away first, to forget it.", at.Journal, b.Serial)
}
