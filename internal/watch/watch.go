package watch

import (
	"context"
	"errors"
	"time"

	"deployster/plan/drift"
)

// Looker asks how one resource is. An error says that it could not be asked.
type Looker interface {
	Look(ctx context.Context, addr string) (Look, error)
}

// Look is what was found of a resource.
type Look struct {
	Status  drift.Status
	Reason  string // in words
	Differs bool   // it is VALID, and its state is not the one that is recorded
	Found   string // a digest of what was found: equal ones are the same finding
}

// wrong reports whether a repair has something to do.
func (l Look) wrong() bool {
	return l.Status == drift.Drifted || l.Status == drift.Gone || l.Status == drift.None && l.Differs
}

// Repairer brings resources back to what was approved. Cancelling ctx starts
// nothing new.
type Repairer interface {
	Repair(ctx context.Context, addrs []string) (map[string]Outcome, error)
}

// ErrElsewhere says that the state is not the one of this generation any more:
// nothing was repaired, and a new generation comes.
var ErrElsewhere = errors.New("the state was changed by another command")

// Outcome is what became of a resource in a repair.
type Outcome string

// The outcomes. A resource that has none counts as failed.
const (
	Right       Outcome = "valid"        // there was nothing to do any more
	Repaired    Outcome = "repaired"     // its actions helped
	Failed      Outcome = "failed"       // they did not, or something before it failed
	NotApproved Outcome = "not_approved" // nobody has approved what would have to be done
)

// Source tells of changes to a resource, until ctx ends or the process that watches
// does. tell never blocks.
type Source interface {
	Watch(ctx context.Context, addr string, tell func(SourceEvent)) error
}

// Event says that a resource is to be looked at. It never says what is wrong.
type SourceEvent struct {
	First  bool   // the process watches from now on
	Busy   *bool  // something goes on, or no more, during which nothing counts as converged
	Detail string // for people
}

// What a Source may return, wrapped.
var (
	// ErrPolled says that no process can be had for a resource for now: it is polled,
	// that is told once, and another one is tried for every five minutes.
	ErrPolled = errors.New("it is polled")
	// ErrAnew says that the process is to begin anew, through no fault of its own.
	ErrAnew = errors.New("it begins anew")
)

// Resource is one that is watched.
type Resource struct {
	Address  string
	Lane     string        // what is looked at with the same program, and so shares its places
	Poll     time.Duration // the longest time between two looks while a process watches it; 0 = no looks by time
	Alone    time.Duration // the same while none does
	Longest  time.Duration // a look ends by itself within that; 0 = nobody knows when
	Watched  bool          // the Source tells of it
	Repair   bool          // else it is only told of
	Cold     bool          // a look at it starts a container: Generation.Cold of these begin at one time
	Request  string        // a digest of what its process is started with: an equal one goes on
	Recorded string        // a digest of what it is held to: it is looked at anew when that differs
}

// Generation is all that is watched, from one reading of the manifests and the
// state.
type Generation struct {
	Resources []Resource
	Places    map[string]int // how many looks each lane takes at one time; without a number one
	Cold      int            // how many looks that start a container there are at one time, in all lanes; 0 = no limit
	Looker    Looker
	Repairer  Repairer
	Source    Source // nil: nobody tells of events
}

// Options steer Run.
type Options struct {
	Converged  time.Duration        // Run returns when nothing was to be done for that long; 0 = it does not
	MaxRuntime time.Duration        // Run returns after that; 0 = it does not
	Busy       func() bool          // something is done beside, the end of which is waited for: nothing has converged; nil = never
	Slept      func() time.Duration // for how long the machine was suspended until now; nil = never
	Alive      func()               // called each ten seconds by the goroutine that owns all, unless all that is looked at hangs; nil = nobody
	Counted    func(Counts)         // the same, whenever they are others; nil = nobody
}

// Counts says how all resources are.
type Counts struct {
	Resources int
	ByEvents  int // have a process that watches
	Watched   int // shall have one
	Drifted   int // drifted or gone
	Gone      int // those of them that are gone
	Failed    int // could not be asked
	Open      int // are to be looked at or repaired for another reason than that time is up
}

// End is why Run returned.
type End string

// The ends.
const (
	Stopped   End = "stopped" // ctx ended
	Converged End = "converged"
	Over      End = "max_runtime"
)

// Why is the reason of a look.
type Why string

// The reasons.
const (
	Start      Why = "start"
	ByEvent    Why = "event"
	Poll       Why = "poll"
	ByRepair   Why = "repair"
	Dependency Why = "dependency" // the repair of another resource has looked at it
	Again      Why = "again"      // it could not be asked before
)

// Event is something that happened.
type Event interface{ event() }

// Finding is a resource of which something else was found than before.
type Finding struct {
	Address string
	Was     drift.Status // "" at the first look
	Look    Look
	Why     Why
	Detail  string        // of the event
	Next    time.Duration // until it may be repaired
	Error   error         // why it could not be asked
}

// Flapping is a resource that drifts as often as it is repaired.
type Flapping struct {
	Address string
	Times   int           // that it was repaired
	Next    time.Duration // until it may be repaired again
}

// Unapproved is a resource that nobody has approved to repair.
type Unapproved struct{ Address string }

// Missed is a drift that was found by time though a process watches the resource.
type Missed struct {
	Address string
	Polled  bool // the process is not believed: the resource is polled as if there were none
}

// Noisy is a resource whose events have again and again told of nothing.
type Noisy struct{ Address string }

// Process is the one that watches a resource.
type Process struct {
	Address string
	Running bool // it watches from now on; otherwise it has ended
	Err     error
	Restart time.Duration // until it is started again
}

// Refused is a repair that could not begin.
type Refused struct {
	Resources int
	Err       error
	Next      time.Duration // until it is tried again
}

// Slow is a repair that takes long, while others wait for its end.
type Slow struct {
	Resources []string // that are being repaired
	Waiting   int      // that are to be
	Since     time.Duration
}

// Hanging is a resource whose look should have ended by itself long ago. It is not looked at
// before that ends.
type Hanging struct {
	Address string
	Since   time.Duration
}

// Looked is a look that ended, whatever it found.
type Looked struct {
	Address string
	Why     Why
	Status  drift.Status
	Took    time.Duration
	Late    time.Duration // it began so long after it was due
}

// Righted is a resource that a repair has brought back.
type Righted struct {
	Address string
	Took    time.Duration // since the first event or look that told of it
}

// Settled tells that there is nothing to do but what time is up for, after a while of
// that, or that there is something, at once.
type Settled struct{ Converged bool }

// Loaded says that a generation is watched from now on.
type Loaded struct {
	First  bool
	Counts Counts
}

func (Finding) event()    {}
func (Flapping) event()   {}
func (Unapproved) event() {}
func (Missed) event()     {}
func (Noisy) event()      {}
func (Process) event()    {}
func (Refused) event()    {}
func (Slow) event()       {}
func (Hanging) event()    {}
func (Looked) event()     {}
func (Righted) event()    {}
func (Settled) event()    {}
func (Loaded) event()     {}
