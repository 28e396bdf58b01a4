package runner

import (
	"context"
	"io"
	"time"
)

// Adopter takes over actions whose client did not live to see their end.
// Actions are named by Spec.ID. Implementations are safe for concurrent use.
type Adopter interface {
	// Adopt waits for the end of an action that still runs, and says what
	// became of it; one that has ended is told at once, as often as it is asked
	// for. When ctx ends, Adopt does, and the action goes on. The error is
	// never about the action: it says why nobody could look.
	Adopt(ctx context.Context, id string, w Watch) (Outcome, error)

	// Discard removes what Adopt tells from. It is for an action that has ended,
	// when how it did is on record elsewhere; afterwards another one may have its
	// ID, as when it is tried again.
	Discard(ctx context.Context, id string) error
}

// Watch sees an action that is adopted. All of it is optional.
type Watch struct {
	Running        func()    // called once, if it still runs
	Stdout, Stderr io.Writer // what it prints, from its begin on; see Spec
}

// Fate is what became of an action.
type Fate string

// The fates.
const (
	Exited   Fate = "exited"    // it ended by itself, and Result.ExitCode says how
	NotBegun Fate = "not begun" // its container was made, and its program never started
	Unknown  Fate = "unknown"   // whether it has ended, and how, cannot be found out any more
)

// Outcome is what is known of an action that was adopted.
type Outcome struct {
	Result // its outputs as far as they are there; the exit code when it Exited
	Fate   Fate
	Why    string // of an Unknown one: why nobody knows
	// NoTrace says of an Unknown one that the runtime never heard of it: if the client
	// that was to begin it is dead, and the machine was not started since, it was not.
	NoTrace   bool
	Forgotten time.Time // with NoTrace: traces of what was begun before this may have been removed
	Ended     time.Time // when it was seen to have ended; zero when nobody knows
}
