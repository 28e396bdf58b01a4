package artifact

import (
	"context"
	"errors"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// Class is the kind of a failure, for callers that decide what to do.
type Class string

// The classes.
const (
	Broken      Class = "protocol"    // the image gave an answer that the protocol forbids, or none where it must
	Failed      Class = "failed"      // it ended with an exit code other than zero; of a get: the version is unavailable
	Refused     Class = "refused"     // its files are of a kind, or of a number, that is refused
	TimedOut    Class = "timeout"     // its timeout expired
	Unclear     Class = "unknown"     // it is unknown how it ended
	Interrupted Class = "interrupted" // by the user
	Foreign     Class = "foreign"     // it is not an artifact image
	Other       Class = "other"       // a fault of this machine: no image, no container, no disk
)

// Error is the cause of a failure that has its own class.
type Error struct {
	Class Class
	Err   error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ClassOf returns the class of a Client's or a Store's error.
func ClassOf(err error) Class {
	var own *Error
	switch {
	case diag.Is[*runner.UnknownError](err):
		return Unclear
	case errors.As(err, &own):
		return own.Class
	case diag.Is[*runner.TimeoutError](err):
		return TimedOut
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Interrupted
	}
	return Other
}
