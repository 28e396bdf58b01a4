package artifact

import (
	"context"
	"errors"

	"deployster/internal/base/diag"
	"deployster/internal/runner"
)

// Class says what a failure is about, for those who decide what follows of it.
type Class string

// The classes.
const (
	Broken      Class = "protocol"    // the image said what no image may say, or nothing where it must
	Failed      Class = "failed"      // it ended with an exit code other than zero; of a get: the version is unavailable
	Refused     Class = "refused"     // its files are of a kind or a number that is not taken
	TimedOut    Class = "timeout"     // its time was up
	Unclear     Class = "unknown"     // nobody knows how it ended
	Interrupted Class = "interrupted" // by the user
	Foreign     Class = "foreign"     // it is no artifact image
	Other       Class = "other"       // the machine's affair: no image, no container, no disk
)

// Error is the cause of a failure that has a class of its own.
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
