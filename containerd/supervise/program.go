package supervise

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// KillLimit is how long a program may take to end after SIGKILL.
const KillLimit = 30 * time.Second

// Program is a running program.
type Program interface {
	// Signal signals it to end with SIGTERM, or ends it and everything that it has started with
	// SIGKILL. A channel alone that is not nil is closed when the program can be killed.
	Signal(ctx context.Context, sig unix.Signal) (alone <-chan struct{})
	// Delete makes sure that its whole output is in its files. It is called when the
	// program has ended; well reports that it ended by itself.
	Delete(ctx context.Context, code int, well bool) error
}

// Exit is how a program ended, or why that is unknown.
type Exit struct {
	Code int
	Err  error
}

// Cancelled returns the error of a run that was cancelled.
func Cancelled(ctx context.Context, s runner.Spec) error {
	return fmt.Errorf("%s was cancelled: %w", s.Name, context.Cause(ctx))
}

// UnknownEnd returns the error that reports that it is unknown how or whether the program
// ended. It keeps the cause as text only, so that the caller does not take a call that
// was cut off for a cancellation.
func UnknownEnd(id string, err error) error {
	return &runner.UnknownError{Container: id, Err: errors.New(err.Error())}
}

// IsUnknown reports whether err reports that it is unknown how a program ended.
func IsUnknown(err error) bool {
	return diag.Is[*runner.UnknownError](err)
}
