package sharedlog

import (
	"context"
	"errors"
)

// Store keeps objects that are created once and never changed. It is safe for
// concurrent use. A key is ASCII, at most 200 bytes, and may have slashes.
type Store interface {
	// Create makes an object, which is durable when Create returns nil. ErrExists reports
	// that an object with this key exists, whoever created it. After any other error
	// the object may exist, now or later.
	Create(ctx context.Context, key string, data []byte) error
	// Get returns an object. The error is fs.ErrNotExist if there is none.
	Get(ctx context.Context, key string) ([]byte, error)
	// List returns the keys that begin with prefix, sorted. It has all objects that
	// were created before List began and still exist.
	List(ctx context.Context, prefix string) ([]string, error)
	// Delete removes an object. It is not an error if there is none.
	Delete(ctx context.Context, key string) error
	// Close releases connections.
	Close() error
}

// The errors of stores, and of claims.
var (
	ErrExists      = errors.New("an object exists already")
	ErrDenied      = errors.New("the store refuses") // the store did nothing, and a retry does not help
	ErrHeld        = errors.New("the log is held")
	ErrTaken       = errors.New("the log was taken over")
	ErrUnreachable = errors.New("the store cannot be reached")
	ErrMoved       = errors.New("the log has moved")
	ErrDamaged     = errors.New("the log is damaged")
	ErrNewer       = errors.New("the log is of a newer version")
)
