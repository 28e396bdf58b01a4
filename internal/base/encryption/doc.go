// Package encryption encrypts the files that deployster keeps: the state file, its copies
// and its journal, plan files, records of runs. A random data key is wrapped with age,
// for recipients or with a passphrase, and stored in the head of every file; the content
// is encrypted with AES-256-GCM under a key of its own, derived from the data key and the
// file's salt. So a process derives a key from a passphrase once, however many files it
// reads and writes, and each record of a journal costs microseconds.
//
// A file is:
//
//	deployster encrypted KIND 1
//	{"key":"...","salt":"..."}
//	CIPHERTEXT SHA-256
//
// key is an age file that holds the data key, in base64. The two lines of the
// head are authenticated with the content, so that a plan cannot stand in the
// place of a state. The hash at the end distinguishes a damaged file from a wrong key
// without having any key.
package encryption

import (
	"errors"

	"deployster/internal/base/diag"
)

// Kind is the kind of a file. A file of one kind is never accepted as another.
type Kind string

// The kinds, as messages name them.
const (
	State        Kind = "state"
	Journal      Kind = "journal"
	Plan         Kind = "plan"
	Record       Kind = "record"
	Outputs      Kind = "outputs"
	Announcement Kind = "announcement"
)

// Format is the version of the envelope that this version writes.
const Format = 1

// The reasons why a file cannot be decrypted or encrypted. The errors of this package
// carry a *diag.Diagnostic for the user and wrap one of these.
var (
	ErrNoKey    = errors.New("no key for an encrypted file")
	ErrWrongKey = errors.New("the keys do not fit an encrypted file")
	ErrDamaged  = errors.New("an encrypted file is damaged")
	ErrNewer    = errors.New("an encrypted file is of a newer format")
	ErrKind     = errors.New("an encrypted file of another kind")
)

func refuse(cause error, summary, detail string, args ...any) error {
	return diag.Because(cause, summary, detail, args...)
}
