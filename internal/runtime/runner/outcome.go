package runner

import (
	"context"
	"io"
	"time"
)

// Adopter takes over actions whose client ended before them. Actions are named by
// Spec.ID. Implementations are safe for concurrent use.
type Adopter interface {
	// Adopt waits for the end of an action that still runs, and returns its outcome.
	// For an action that has ended it returns at once, however often it is called. When
	// ctx ends, Adopt returns and the action continues. The error never describes the
	// action: it reports why its outcome could not be determined.
	Adopt(ctx context.Context, id string, w Watch) (Outcome, error)

	// Discard removes the traces that Adopt reads. The action must have ended, and its
	// end must be recorded elsewhere. Afterwards another action may use the ID, as when
	// the action is tried again.
	Discard(ctx context.Context, id string) error
}

// Watch observes an action that is adopted. All fields are optional.
type Watch struct {
	Running        func()    // called once, if the action still runs
	Stdout, Stderr io.Writer // its output, from its beginning; see Spec
}

// Fate reports how an action ended.
type Fate string

// The fates.
const (
	Exited   Fate = "exited"    // it ended by itself with Result.ExitCode
	NotBegun Fate = "not begun" // its container was created, but its program never started
	Unknown  Fate = "unknown"   // whether and how it has ended can no longer be found out
)

// Outcome is the known outcome of an adopted action.
type Outcome struct {
	Result // its outputs as far as they exist; the exit code if it Exited
	Fate   Fate
	Why    string // with Unknown: why the outcome is unknown
	// NoTrace, with Unknown, means that the runtime has no record of the action. If the client that
	// was to begin it is dead, and the machine has not rebooted since, the action was not begun.
	NoTrace   bool
	Forgotten time.Time // with NoTrace: traces of actions begun before this time may have been removed
	Ended     time.Time // when its end was noticed; zero = unknown
}
