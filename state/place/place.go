package place

import (
	"context"
	"errors"
	"os"
	"time"

	"deployster/internal/base/diag"
)

// Place is where a state is. File and Remote are the two kinds.
type Place interface {
	String() string       // what a person calls it
	Find() (Found, error) // an error means that no state can be kept there
	// Mark returns a text that changes whenever the recorded state changes, also by
	// another process, and costs less than reading the state; "" = nothing is recorded.
	// Facts that are only in the journal of a run do not count.
	Mark(ctx context.Context) (string, error)
}

// Backend stores the bytes of one state: its document, the journal of the current run,
// and its earlier copies. It knows neither what they mean nor whether they are encrypted.
// It returns os.ErrNotExist for what it does not have.
type Backend interface {
	// Lock waits as the options declare; an exclusive lock keeps all others out. The lock
	// ends with its process at the latest. Its errors are worded for the user.
	Lock(ctx context.Context, exclusive bool, o Options) (Lock, error)

	Read() ([]byte, error)
	Write(serial uint64, data []byte) error // completely or not at all
	SetAside() (as string, err error)       // moves the present state away, so that it can be replaced; "" = there is none

	ReadJournal() ([]byte, error)
	CreateJournal(lineage, run string) (Appender, error)
	RemoveJournal() error
	LeftJournals(lineage string) []LeftJournal // on this machine, of runs that could not record in the store

	ListCopies() ([]CopyFile, error) // oldest first
	ReadCopy(serial uint64) ([]byte, error)
	WriteCopy(serial uint64, data []byte) error
	RemoveCopy(serial uint64) error

	// ReadOutputs returns what the state has published last for other projects. It needs no lock.
	ReadOutputs() ([]byte, error)
	WriteOutputs(serial uint64, data []byte) error
	RemoveOutputs() error

	// Announce keeps what another project reports to whoever reads the state from now on, and Announced returns all of it, by ids. They
	// need no lock, nor does Withdraw.
	Announce(id string, data []byte) error
	Announced() (map[string][]byte, error)
	Withdraw(id string) error

	Clean()                        // removes half-written files of killed writers; the lock is held
	Use() (who string, inUse bool) // whether somebody holds the state for writing
	AtLarge() bool                 // whether actions of the earlier holder may still run
	Run() string                   // the run whose journal was read; "" = unknown
	Clear() []string               // names the clear-text parts of an encrypted state
	Warning() *diag.Diagnostic     // why the lock may not hold; nil = it does, as far as is known
}

// LeftJournal is a journal on this machine of a run whose state is in a store.
type LeftJournal struct {
	Name   string
	Read   func() ([]byte, error)
	Adopt  func(run string, tail []byte) error // appends the missing records to the journal of the state
	Remove func() error
}

// Lock is held until Unlock.
type Lock interface{ Unlock() error }

// Turn returns a number that grows with each holder of a shared state; 0 = the state is not shared.
func Turn(l Lock) uint64 {
	if turn, ok := l.(interface{ Turn() uint64 }); ok {
		return turn.Turn()
	}
	return 0
}

// Holds confirms that the holder of a shared state still holds it; a state file is held until Unlock.
func Holds(l Lock) error {
	if shared, ok := l.(interface{ Holds() error }); ok {
		return shared.Holds()
	}
	return nil
}

// Appender is the log that a journal is written to.
type Appender interface {
	Reserve(n int64) error
	Release()
	Write(b []byte) (end int64, err error)
	Sync(end int64) error
	Durable() int64
	Close() error
}

// CopyFile is a copy as its backend lists it.
type CopyFile struct {
	Serial uint64
	At     time.Time // when it was written
}

// Names are the names of the parts of a state in messages.
type Names struct {
	State, Journal, Copies string
	CopyName               func(serial uint64) string
	MaxCopies              int
}

// Mover is a Backend that can record where its state has moved.
type Mover interface{ Move(to string) error }

// Salvager is a Backend that can be locked although it is damaged. Salvaged reports whether it was: then the journal has gaps.
type Salvager interface{ Salvaged() bool }

// Found is a state that a Place has found.
type Found struct {
	Backend
	Names
	Machine string // the id of this machine, if others use the state too; "" = only this one does
}

// Options declare how a state is locked.
type Options struct {
	Command string        // what the user runs, shown to others who find the state locked
	User    string        // who runs it
	CI      string        // the URL of the run in a CI; "" = none
	Wait    time.Duration // how long to wait for the lock; 0 = not at all
	Salvage bool          // also lock a shared state whose log is damaged

	// Waiting is called once with the holder of the lock when the lock is waited for; nil
	// = no notice is needed.
	Waiting func(who string)
	// Ended is called for each process of this machine that was ended because it had the state before; nil = no notice is needed.
	Ended func(who string)
}

// MaxCopies is how many earlier state files are kept next to the state.
const MaxCopies = 10

// These errors report what is wrong with a state in its place.
var (
	ErrLocked  = errors.New("the state is locked")
	ErrDamaged = errors.New("the state is damaged")
	ErrNewer   = errors.New("the state was written by a newer deployster")
)

// host returns the name of this machine.
func host() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown host"
	}
	return name
}
