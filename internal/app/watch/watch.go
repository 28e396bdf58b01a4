package watch

import (
	"context"
	"errors"
	"time"

	"deployster/plan/drift"
)

// Looker queries one resource. An error reports that the query failed, and the state is unknown.
type Looker interface {
	Look(ctx context.Context, addr string) (Look, error)
}

// Look is the result of a query of a resource.
type Look struct {
	Status  drift.Status
	Reason  string // in words
	Differs bool   // it is VALID, but its state is not the recorded one
	Found   string // a digest of the result: equal digests mean the same finding
}

// wrong reports whether a repair has something to do.
func (l Look) wrong() bool {
	return l.Status == drift.Drifted || l.Status == drift.Gone || l.Status == drift.None && l.Differs
}

// Repairer repairs resources as far as that is approved. After ctx is cancelled it starts
// nothing new.
type Repairer interface {
	Repair(ctx context.Context, addrs []string) (map[string]Outcome, error)
}

// ErrElsewhere reports that the state is no longer that of this generation: nothing was
// repaired, and a new generation follows.
var ErrElsewhere = errors.New("the state was changed by another command")

// Outcome is the result of a repair for one resource.
type Outcome string

// The outcomes. A resource without one counts as failed.
const (
	Right       Outcome = "valid"        // it needed no repair any more
	Repaired    Outcome = "repaired"     // its actions repaired it
	Failed      Outcome = "failed"       // they did not, or an earlier step failed
	NotApproved Outcome = "not_approved" // an action that it needs is not approved
)

// Source reports changes to a resource, until ctx or the watching process ends. tell
// never blocks.
type Source interface {
	Watch(ctx context.Context, addr string, tell func(SourceEvent)) error
}

// SourceEvent reports that a resource has to be queried. It never reports what changed.
type SourceEvent struct {
	First  bool   // the process watches from now on
	Busy   *bool  // true: work is in progress, and nothing counts as converged; false: it has ended
	Detail string // for people
}

// Errors that a Source may return, wrapped.
var (
	// ErrPolled reports that no process is available for a resource for now: it is polled,
	// which is reported once, and a process is tried again every five minutes.
	ErrPolled = errors.New("it is polled")
	// ErrAnew reports that the process has to be started again, through no fault of its own.
	ErrAnew = errors.New("it starts again")
)

// Resource is a watched resource.
type Resource struct {
	Address  string
	Lane     string        // resources with the same program have the same lane, and share its places
	Poll     time.Duration // the longest time between two queries while a process watches it; 0 = no polls
	Alone    time.Duration // the same while no process watches it
	Longest  time.Duration // the time after which a query ends by itself; 0 = unknown
	Watched  bool          // the Source reports its changes
	Repair   bool          // drift is repaired; otherwise it is only reported
	Cold     bool          // its query starts a container: at most Generation.Cold of these start concurrently
	Request  string        // a digest of the inputs of its process, which continues while that is equal
	Recorded string        // a digest of the entry that it is compared with; if that changes it is queried again
}

// Generation is everything that is watched, from one reading of the manifests and the
// state.
type Generation struct {
	Resources []Resource
	Places    map[string]int // how many queries each lane runs concurrently; missing = one
	Cold      int            // how many queries that start a container run concurrently, in all lanes; 0 = no limit
	Looker    Looker
	Repairer  Repairer
	Source    Source // nil = no events
}

// Options control Run.
type Options struct {
	Converged  time.Duration        // Run returns when there was nothing to do for that long; 0 = never
	MaxRuntime time.Duration        // Run returns after that time; 0 = never
	Busy       func() bool          // other work is in progress: nothing counts as converged, and MaxRuntime waits; nil = never
	Slept      func() time.Duration // how long the machine was suspended until now; nil = never
	Alive      func()               // called every ten seconds by the goroutine that owns all, unless all queries hang; nil = not
	Counted    func(Counts)         // called by the same goroutine when the counts change; nil = not called
}

// Counts has the number of resources in each condition.
type Counts struct {
	Resources int
	ByEvents  int // a process watches it
	Watched   int // a process should watch it
	Drifted   int // drifted or gone
	Gone      int // those of Drifted that are gone
	Failed    int // its query failed
	Open      int // has to be queried or repaired for another reason than a due poll
}

// End is why Run returned.
type End string

// The ends.
const (
	Stopped   End = "stopped" // ctx ended
	Converged End = "converged"
	Over      End = "max_runtime"
)

// Why is the reason of a query.
type Why string

// The reasons.
const (
	Start      Why = "start"
	ByEvent    Why = "event"
	Poll       Why = "poll"
	ByRepair   Why = "repair"
	Dependency Why = "dependency" // the repair of another resource has queried it
	Again      Why = "again"      // the last query failed
)

// Event is something that happened.
type Event interface{ event() }

// Finding is a query of a resource that found something else than the last one.
type Finding struct {
	Address string
	Was     drift.Status // "" at the first query
	Look    Look
	Why     Why
	Detail  string        // of the event
	Next    time.Duration // until it may be repaired
	Error   error         // why the query failed
}

// Flapping is a resource that drifts again after each repair.
type Flapping struct {
	Address string
	Times   int           // how often it was repaired
	Next    time.Duration // until it may be repaired again
}

// Unapproved is a resource whose repair is not approved.
type Unapproved struct{ Address string }

// Missed is drift that a poll found though a process watches the resource.
type Missed struct {
	Address string
	Polled  bool // the process is not trusted: the resource is polled as if it had none
}

// Noisy is a resource whose events again and again reported no change.
type Noisy struct{ Address string }

// Process is the start or the end of the process that watches a resource.
type Process struct {
	Address string
	Running bool // it watches from now on; otherwise it has ended
	Err     error
	Restart time.Duration // until it is started again
}

// Refused is a repair that could not start.
type Refused struct {
	Resources int
	Err       error
	Next      time.Duration // until it is tried again
}

// Slow is a repair that takes long while others wait for its end.
type Slow struct {
	Resources []string // in the repair
	Waiting   int      // how many wait for a repair
	Since     time.Duration
}

// Hanging is a resource whose query should have ended by itself long ago. It is not queried
// again before that ends.
type Hanging struct {
	Address string
	Since   time.Duration
}

// Looked is a query that ended, whatever its result.
type Looked struct {
	Address string
	Why     Why
	Status  drift.Status
	Took    time.Duration
	Late    time.Duration // how long after it was due it started
}

// Righted is a resource that was repaired.
type Righted struct {
	Address string
	Took    time.Duration // since the first event or query that showed the drift
}

// Settled reports, after a while, that there is nothing to do but due polls, or, at once,
// that there is something to do.
type Settled struct{ Converged bool }

// Loaded reports that a new generation is watched from now on.
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
