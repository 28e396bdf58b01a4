package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote/frame"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// The kinds of messages. The client's messages begin a call or belong to one; the host
// replies with the call's progress and end.
const (
	kindHello    frame.Kind = 1  // both: the greeting; Hello from the client, Welcome from the host
	kindPing     frame.Kind = 2  // both: keeps the connection alive
	kindRun      frame.Kind = 3  // client: runRequest; kindDone has an ending
	kindCancel   frame.Kind = 4  // client
	kindOut      frame.Kind = 5  // both: a stream's number and bytes; for stdin, no bytes = its end
	kindTaken    frame.Kind = 6  // both: how many bytes of a stream it has consumed
	kindEnded    frame.Kind = 7  // host: how the program ended; it waits for kindRecorded
	kindRecorded frame.Kind = 8  // client: the end is recorded, or why it could not be
	kindRunning  frame.Kind = 9  // host: the adopted action, or the launched program, runs
	kindAdopt    frame.Kind = 10 // client: an action's ID; kindDone has its outcome
	kindIsOpen   frame.Kind = 11 // client: an action's ID
	kindDiscard  frame.Kind = 12 // client: an action's ID
	kindResolve  frame.Kind = 13 // client: a reference
	kindDone     frame.Kind = 14 // host: the call's end
	kindRefused  frame.Kind = 15 // host: why it refuses the client
	kindShip     frame.Kind = 16 // client: offers an image
	kindWant     frame.Kind = 17 // host: requests a piece of a content that it lacks
	kindPiece    frame.Kind = 18 // client: that piece
	kindLook     frame.Kind = 19 // client: plugs; kindDone has where each leads
	kindBring    frame.Kind = 20 // client: offers files of an artifact
	kindLaunch   frame.Kind = 21 // client: runRequest of a program that reads and writes while it runs; kindDone has an ending
	kindSignal   frame.Kind = 22 // client: one byte, the signal for a launched program
	kindWaiting  frame.Kind = 23 // host: waiting: why a run has not begun yet
	kindInspect  frame.Kind = 24 // client: Inspection
	kindClaim    frame.Kind = 25 // client: what its state declares; kindDone has what other states have declared
	kindGuard    frame.Kind = 26 // client: GuardRequest; kindDone has what has become of the group
)

// Hello is the client's description of itself.
type Hello struct {
	Build   string `json:"build"`             // of the program; both ends must have the same
	Lineage string `json:"lineage,omitempty"` // of the state that actions are recorded in
	Epoch   int64  `json:"epoch,omitempty"`   // of the state's holder; 0 = this client runs no actions
	Run     string `json:"run,omitempty"`     // the name of the command's records
	// Store and Turn order holders with the same epoch, which follow each other when the
	// first records nothing. Store names the shared state, and Turn is a number that
	// grows with each holder; "" and 0 = a state file, which has one holder at a time.
	Store   string `json:"store,omitempty"`
	Turn    uint64 `json:"turn,omitempty"`
	Process string `json:"process,omitempty"` // describes the client, for people
	// Open has the IDs of the actions that the client's state does not know the end of, as it was read; nil = the client does not
	// report them. What earlier runs have left of others is of no use to anybody.
	Open *[]string `json:"open,omitempty"`
	// Fresh: the client connects with a TCP connection and a login of its own. It is not sent.
	Fresh bool `json:"-"`
}

// Welcome is the host's description of itself.
type Welcome struct {
	Build string             `json:"build"`
	Boot  string             `json:"boot"` // changes with each boot of the machine
	Facts protocol.HostFacts `json:"facts"`
	Clock time.Time          `json:"clock"`
	Runc  string             `json:"runc,omitempty"` // the version of runc; "" = unknown
	Free  int64              `json:"free_bytes"`     // free space for its data directory
	// Namespace is set if the host is a namespace of a cluster.
	Namespace *Namespace `json:"namespace,omitempty"`
	// Pending has resources whose guarded actions are undone unless their client reaches the host again.
	Pending []string `json:"pending,omitempty"`
	// Unproven: the host has no record of an earlier client of the state, as when it was removed. Before it acts, the
	// client queries its store whether it still holds the state: a later one may have acted there.
	Unproven bool `json:"unproven,omitempty"`
	// Printed is what the host printed before the connection was ready, safe to show. The client's end sets it.
	Printed string `json:"-"`
}

// runRequest is a runner.Spec as it is sent.
type runRequest struct {
	Spec   runner.Spec `json:"spec"`
	Stdout bool        `json:"stdout,omitempty"` // send the output of stdout
	Stderr bool        `json:"stderr,omitempty"`
	Ended  bool        `json:"ended,omitempty"` // send kindEnded and wait for kindRecorded
	// Waiting: send kindWaiting.
	Waiting bool `json:"waiting,omitempty"`
}

// newRunRequest returns the request for a Spec, without its writers and functions.
func newRunRequest(s runner.Spec) runRequest {
	r := runRequest{Spec: s, Stdout: s.Stdout != nil, Stderr: s.Stderr != nil, Ended: s.Ended != nil, Waiting: s.Waiting != nil}
	r.Spec.Stdout, r.Spec.Stderr, r.Spec.Ended, r.Spec.Waiting = nil, nil, nil, nil
	return r
}

// waiting reports why a run has not begun yet.
type waiting struct {
	Reason string `json:"reason"`
}

// ending reports how a run ended.
type ending struct {
	Result *runner.Result `json:"result,omitempty"` // nil in a kindDone: the Result of the kindEnded before it
	Error  *failure       `json:"error,omitempty"`
}

// answer ends every other call. Only the fields for that call are set.
type answer struct {
	Error   *failure        `json:"error,omitempty"`
	Open    bool            `json:"open,omitempty"`
	Image   *runner.Image   `json:"image,omitempty"`
	Outcome *runner.Outcome `json:"outcome,omitempty"`
	Seen    []Seen          `json:"seen,omitempty"`
	Found   *Found          `json:"found,omitempty"`
	Claims  []claims.Record `json:"claims,omitempty"`

	Settlement *runner.Settlement `json:"settlement,omitempty"`
}

// Files names files of an artifact, which the client can send as a tar archive.
type Files struct {
	Key  string `json:"key"`
	Name string `json:"name"` // of the artifact, for people
	Tree string `json:"tree"` // hash over all files and their contents
}

// Plug is a path that a manifest grants to types on the host.
type Plug struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	ReadOnly bool   `json:"read_only,omitempty"`
}

// Seen is where a path of a plug leads on the host.
type Seen struct {
	Path  string `json:"path"` // without symbolic links
	Error string `json:"error,omitempty"`
}

// failure is an error as it is sent: its text, and the fields of its type.
type failure struct {
	Text      string        `json:"text"`
	Type      string        `json:"type,omitempty"`
	After     time.Duration `json:"after_ns,omitempty"`
	Killed    bool          `json:"killed,omitempty"`
	Limit     int64         `json:"limit,omitempty"`
	TooDeep   bool          `json:"too_deep,omitempty"`
	Container string        `json:"container,omitempty"`
	Cause     string        `json:"cause,omitempty"`
	Ended     bool          `json:"over,omitempty"`
	Fault     string        `json:"fault,omitempty"`
}

// The error types that decode restores at the other end.
const (
	typeTimeout   = "timeout"
	typeOutput    = "output"
	typeDisk      = "disk"
	typeUnknown   = "unknown"
	typeWorker    = "worker"
	typeNoImage   = "no_image"
	typeCancelled = "cancelled"
	typeHost      = "host" // the place did not answer, as a machine behind the host
	typeReplaced  = "replaced"
	typeStart     = "start"
)

// ErrCancelled is the cause, at the host's end, of the end of a call that the client has cancelled.
var ErrCancelled = errors.New("the client has cancelled it")

// encodeError returns nil for nil.
func encodeError(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error()}
	var (
		timeout *runner.TimeoutError
		output  *runner.OutputError
		disk    *runner.DiskError
		unknown *runner.UnknownError
		worker  *runner.WorkerError
		host    *runner.HostError
		start   *runner.StartError
	)
	switch {
	case errors.As(err, &timeout):
		f.Type, f.After, f.Killed = typeTimeout, timeout.After, timeout.Killed
	case errors.As(err, &output):
		f.Type, f.Limit = typeOutput, output.Limit
	case errors.As(err, &disk):
		f.Type, f.Limit, f.TooDeep = typeDisk, disk.Limit, disk.TooDeep
	case errors.As(err, &unknown):
		f.Type, f.Container, f.Cause, f.Ended = typeUnknown, unknown.Container, unknown.Err.Error(), unknown.Over
	case errors.As(err, &worker):
		f.Type, f.Cause = typeWorker, worker.Reason
	case errors.Is(err, runner.ErrNoImage):
		f.Type = typeNoImage
	case errors.Is(err, ErrCancelled):
		f.Type = typeCancelled
	case errors.Is(err, runner.ErrReplaced):
		f.Type = typeReplaced
	case errors.As(err, &start):
		f.Type, f.Fault, f.Cause = typeStart, string(start.Fault), start.Text
	case errors.As(err, &host):
		f.Type = typeHost
	}
	return f
}

// decode returns the error with its text and its type. cancelled is the reason why the
// client has cancelled the call, if it has.
func (f *failure) decode(cancelled error) error {
	if f == nil {
		return nil
	}
	var as error
	switch f.Type {
	case typeTimeout:
		as = &runner.TimeoutError{After: f.After, Killed: f.Killed}
	case typeOutput:
		as = &runner.OutputError{Limit: f.Limit}
	case typeDisk:
		as = &runner.DiskError{Limit: f.Limit, TooDeep: f.TooDeep}
	case typeUnknown:
		as = &runner.UnknownError{Container: f.Container, Err: errors.New(f.Cause), Over: f.Ended}
	case typeWorker:
		as = &runner.WorkerError{Reason: f.Cause}
	case typeNoImage:
		as = runner.ErrNoImage
	case typeCancelled:
		if cancelled != nil {
			return fmt.Errorf("it was cancelled: %w", cancelled)
		}
	case typeHost:
		as = &PlaceError{f.Text}
	case typeReplaced:
		as = runner.ErrReplaced
	case typeStart:
		as = &runner.StartError{Fault: runner.StartFault(f.Fault), Text: f.Cause}
	}
	switch {
	case as == nil:
		return errors.New(f.Text)
	case as.Error() == f.Text:
		return as
	default:
		return &remoteError{f.Text, as}
	}
}

// remoteError has the text that the host sent, and an error of the type that it had there.
type remoteError struct {
	text string
	as   error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.as }

// decode reads a message's body.
func decode[T any](m frame.Message) (T, error) {
	var v T
	if err := json.Unmarshal(m.Body, &v); err != nil {
		return v, fmt.Errorf("the other end sends an invalid message %d: %w", m.Kind, err)
	}
	return v, nil
}
