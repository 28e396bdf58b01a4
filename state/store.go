package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/state/actions"
	"deployster/state/place"
)

// Load reads a state without locking or changing it. It applies the facts of a journal in memory;
// Recovery then has the actions in flight, of an apply that still runs or was killed. A missing file
// is an empty Snapshot without a lineage. The keys decrypt an encrypted state.
func Load(place Place, keys ...*encryption.Keyring) (Snapshot, *Recovery, error) {
	at, err := storageOf(place, keys...)
	if err != nil {
		return Snapshot{}, nil, err
	}
	// An apply may fold in its journal between the two reads. Load reads again until the
	// state file is the same before and after reading the journal.
	const attempts = 20
	for try := 1; ; try++ {
		before, err := at.Read()
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return Snapshot{}, nil, refuse(err, "Cannot read the state file", "%s: %s. Nothing was changed.", at.State, err)
		}
		s, rec, err := load(at)
		after, _ := at.Read()
		if bytes.Equal(before, after) || try == attempts {
			return s, rec, err
		}
		time.Sleep(time.Millisecond)
	}
}

func load(at storage) (Snapshot, *Recovery, error) {
	s, err := at.snapshot()
	if err != nil {
		return Snapshot{}, nil, err
	}
	data, there, err := at.journalBytes()
	if err != nil || !there {
		return s, nil, err
	}
	return replay(at, s, data)
}

// Options declare how a state is opened.
type Options struct {
	Command string // what the user runs, shown to others who find the state locked
	Author  actions.Author
	Wait    time.Duration // how long to wait for the lock; 0 = not at all
	// Keys decrypt and encrypt the files of the state; nil = they are in clear text.
	Keys *encryption.Keyring
	// Machine is the id of the data directory in which actions run; a shared place has
	// its own.
	Machine string
	Kept    *Kept // what an earlier Open has read or written; a file that has not changed since is not parsed again
	// Arriving also opens a state that is being moved here, see TakeOver.
	Arriving bool
	// Salvage also opens a shared state that is damaged: its snapshot has the open actions that can be read. Replace repairs it.
	Salvage bool

	// Waiting is called once with the holder of the lock when the lock is waited for; nil
	// = no notice is needed.
	Waiting func(who string)
	// Ended is called for each process of this machine that was ended because it had the state before; nil = no notice is needed.
	Ended func(who string)
}

func (o Options) lock() place.Options {
	return place.Options{Command: o.Command, User: o.Author.User, CI: o.Author.CI,
		Wait: o.Wait, Waiting: o.Waiting, Ended: o.Ended, Salvage: o.Salvage}
}

// Shared is a state that is locked for reading: other processes may read it too, and none
// can apply in the meantime.
type Shared struct {
	Snapshot Snapshot
	Recovery *Recovery // see Load
	lock     place.Lock
}

// ReadShared takes a shared lock and loads the state; it changes nothing but the lock
// file. Close releases the lock.
func ReadShared(ctx context.Context, place Place, o Options) (*Shared, error) {
	at, err := storageOf(place, o.Keys)
	if err != nil {
		return nil, err
	}
	lock, err := at.Lock(ctx, false, o.lock())
	if err != nil {
		return nil, err
	}
	s, rec, err := load(at)
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return &Shared{Snapshot: s, Recovery: rec, lock: lock}, nil
}

// Close releases the lock.
func (s *Shared) Close() error { return s.lock.Unlock() }

// Store is a state that is locked for writing, by this process alone.
type Store struct {
	at       storage
	lock     place.Lock
	snapshot Snapshot
	recovery *Recovery
	command  string         // what the user runs
	author   actions.Author // of what is recorded
	machine  string         // Options.Machine
	warnings diag.Diagnostics
	journal  *Journal // the open journal; nil = none
	exports  *Exports // see Publishes
	reads    map[string]Read
}

// Overridden adds to the author of what is recorded from now on whose decisions about policies the plan has.
func (s *Store) Overridden(list []actions.Override) { s.author.Overrides = list }

// Open takes the exclusive lock and loads the state. It folds a journal that an earlier
// command left behind into the state file; Recovery then has the actions in flight.
func Open(ctx context.Context, place Place, o Options) (*Store, error) {
	at, err := storageOf(place, o.Keys)
	if err != nil {
		return nil, err
	}
	at.kept, at.arriving = o.Kept, o.Arriving
	lock, err := at.Lock(ctx, true, o.lock())
	if err != nil {
		return nil, err
	}
	at.Clean()
	s := &Store{at: at, lock: lock, command: o.Command, author: o.Author, machine: o.Machine}
	err = s.recover()
	if o.Salvage && at.isDamaged(err) {
		s.snapshot, err = at.salvage(), nil
	}
	if err == nil {
		err = at.keys.Ready() // a missing key must fail here, before any action runs
	}
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return s, nil
}

// recover can be interrupted and repeated safely: the state file is replaced as a whole
// and names the run, and only then the journal is removed.
func (s *Store) recover() error {
	if s.at.isSalvaged() {
		return ErrDamaged
	}
	base, err := s.at.snapshot()
	if err != nil {
		return err
	}
	s.snapshot = base
	if err := s.continueJournal(); err != nil {
		return err
	}
	data, there, err := s.at.journalBytes()
	if err != nil {
		return err
	}
	if there {
		if err := s.fold(data); err != nil {
			return err
		}
	}
	s.warnings = s.settleLeft()
	if err := s.at.republish(s.snapshot); err != nil {
		s.warnings = append(s.warnings, diag.From("", err)...)
	}
	return nil
}

// fold applies a journal that an earlier command left behind to the state, and removes it.
func (s *Store) fold(data []byte) error {
	folded, rec, err := replay(s.at, s.snapshot, data)
	if err != nil {
		return err
	}
	if rec != nil {
		if s.at.AtLarge() {
			folded = folded.Hold(s.at.Machine)
		}
		if err := s.at.save(folded); err != nil {
			return err
		}
		s.snapshot, s.recovery = folded, rec
	}
	if err := s.at.RemoveJournal(); err != nil {
		return refuse(err, "Cannot remove the journal", "%s: %s. What it recorded is in the state file.", s.at.Journal, err)
	}
	return nil
}

// Snapshot returns the state as it was opened, or as the last Finish left it. The caller
// must not change it.
func (s *Store) Snapshot() Snapshot { return s.snapshot }

// Turn returns a number that grows with each holder of a shared state; 0 = the state is in a file.
func (s *Store) Turn() uint64 { return place.Turn(s.lock) }

// Holds confirms that this command still holds the state: of a shared state it queries the store.
func (s *Store) Holds() error { return place.Holds(s.lock) }

// Warnings returns warnings about journals on this machine that were skipped.
func (s *Store) Warnings() diag.Diagnostics { return s.warnings }

// Recovery returns what was in flight in an earlier run that was killed; nil = nothing.
func (s *Store) Recovery() *Recovery { return s.recovery }

// Close releases the lock. An unfinished journal stays, and the next Open folds it in.
func (s *Store) Close() error {
	var err error
	if s.journal != nil {
		err = s.journal.log.Close()
		s.journal = nil
	}
	return errors.Join(err, s.lock.Unlock())
}

// Replace makes next the state: for edits by hand, not for the results of an apply. The state gets the
// next serial, so that earlier plans do not match it by accident, and keeps its lineage. The previous
// file is among the copies.
func (s *Store) Replace(next Snapshot) error {
	if s.journal != nil {
		return refuse(ErrBroken, "A run is being recorded",
			"The state was edited during an apply in one process, which is a fault in deployster.")
	}
	next = next.Clone()
	next.Format, next.Serial, next.ArrivesFrom = Format, s.snapshot.Serial+1, s.snapshot.ArrivesFrom
	if s.snapshot.Lineage != "" {
		next.Lineage = s.snapshot.Lineage
	}
	if next.Lineage == "" {
		next.Lineage = NewID()
	}
	if err := s.at.save(next); err != nil {
		return err
	}
	s.snapshot = next
	return nil
}

// Settle records the outcome of an action that was unknown, because the process that
// started the action ended before it. See Snapshot.Settled.
func (s *Store) Settle(addr, key string, exit *int, memory json.RawMessage) error {
	if _, ok := s.snapshot.Unsettled[addr]; !ok {
		return nil
	}
	return s.Replace(s.snapshot.Settled(addr, key, exit, memory))
}
