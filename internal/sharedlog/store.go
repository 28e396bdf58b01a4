package sharedlog

import (
	"context"
	"errors"
)

// Store keeps objects that are created once and never changed. It is safe for
// concurrent use. A key is ASCII, at most 200 bytes, and may have slashes.
type Store interface {
	// Create makes an object, which is durable when it returns nil. ErrExists says
	// that there is one, whoever has made it. After any other error it may be there or
	// not, now or later.
	Create(ctx context.Context, key string, data []byte) error
	// Get returns an object; one that is not there is fs.ErrNotExist.
	Get(ctx context.Context, key string) ([]byte, error)
	// List returns the keys that begin with prefix, sorted: all that were created
	// before it began.
	List(ctx context.Context, prefix string) ([]string, error)
	// Delete removes an object. That there is none is no error.
	Delete(ctx context.Context, key string) error
	// Close lets go of connections.
	Close() error
}

// What a store may say, and what becomes of a claim.
var (
	ErrExists      = errors.New("an object exists already")
	ErrDenied      = errors.New("the store refuses") // nothing is done, and trying again does not help
	ErrHeld        = errors.New("the log is held")
	ErrTaken       = errors.New("the log was taken over")
	ErrUnreachable = errors.New("the store cannot be reached")
	ErrMoved       = errors.New("the log has moved")
	ErrDamaged     = errors.New("the log is damaged")
	ErrNewer       = errors.New("the log is of a newer version")
)
