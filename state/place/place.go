package place

import (
	"context"
	"errors"
	"os"
	"time"

	"deployster/internal/base/diag"
)

// Place is where a state lies. File and Remote are the two kinds.
type Place interface {
	String() string       // what a person calls it
	Find() (Found, error) // error = no state can lie there
	// Mark is another one when what is recorded is another, also by somebody else, and
	// costs less than to read it; "" = nothing is recorded. What a run has only in its
	// journal does not count.
	Mark(ctx context.Context) (string, error)
}

// Backend keeps the bytes of one state: its document, the journal of the run that
// goes on, and its earlier copies. It knows neither what they mean nor whether
// they are encrypted. What it is asked for and does not have is os.ErrNotExist.
type Backend interface {
	// Lock waits as the options say; exclusive keeps all others out. The lock goes
	// with its process at the latest. Its errors are for the user.
	Lock(ctx context.Context, exclusive bool, o Options) (Lock, error)

	Read() ([]byte, error)
	Write(serial uint64, data []byte) error // as a whole or not at all
	SetAside() (as string, err error)       // what is there, so that it can be replaced; "" = nothing is

	ReadJournal() ([]byte, error)
	CreateJournal(lineage, run string) (Appender, error)
	RemoveJournal() error
	LeftJournals(lineage string) []LeftJournal // of runs that could not be recorded where the state is

	ListCopies() ([]CopyFile, error) // oldest first
	ReadCopy(serial uint64) ([]byte, error)
	WriteCopy(serial uint64, data []byte) error
	RemoveCopy(serial uint64) error

	Clean()                        // removes what writers that died left half written; the lock is held
	Use() (who string, inUse bool) // whether somebody holds it for writing
	AtLarge() bool                 // the holder before may still be at work
	Run() string                   // whose journal was read; "" = it is not told
	Clear() []string               // names what lies beside an encrypted state and is in clear text
	Warning() *diag.Diagnostic     // why its lock may not hold; nil = it does, as far as is known
}

// LeftJournal is a journal on this machine of a run whose state is elsewhere.
type LeftJournal struct {
	Name   string
	Read   func() ([]byte, error)
	Adopt  func(run string, tail []byte) error // adds what is missing to the journal of the state
	Remove func() error
}

// Lock is held until it is let go of.
type Lock interface{ Unlock() error }

// Turn is a number that grows with each holder of a shared state; 0 = it is none.
func Turn(l Lock) uint64 {
	if turn, ok := l.(interface{ Turn() uint64 }); ok {
		return turn.Turn()
	}
	return 0
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

// CopyFile is a copy as its backend knows it.
type CopyFile struct {
	Serial uint64
	At     time.Time // when it was written
}

// Names are what messages call the parts of a state.
type Names struct {
	State, Journal, Copies string
	CopyName               func(serial uint64) string
	MaxCopies              int
}

// Mover is a Backend that can say where its state went.
type Mover interface{ Move(to string) error }

// Found is a state where it lies.
type Found struct {
	Backend
	Names
	Machine string // this one, where others use the state too; "" = it is of this one only
}

// Options are how a state is locked.
type Options struct {
	Command string        // what the user runs, shown to others who find the state locked
	Wait    time.Duration // how long to wait for the lock; 0 = not at all

	// Waiting is told who has the lock, once, when it is waited for; nil =
	// nobody wants to know.
	Waiting func(who string)
}

// MaxCopies is how many earlier state files are kept beside the state.
const MaxCopies = 10

// What can be wrong with a state where it lies.
var (
	ErrLocked  = errors.New("the state is locked")
	ErrDamaged = errors.New("the state is damaged")
	ErrNewer   = errors.New("the state was written by a newer deployster")
)

// host is the name of this machine.
func host() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown host"
	}
	return name
}
