package far

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"deployster/internal/runner"
	"deployster/internal/wire"
	"deployster/protocol"
)

// The kinds of messages. What the client sends begins a call or is about one; the
// host answers with how the call ended.
const (
	kindHello    wire.Kind = 1  // both: who speaks
	kindPing     wire.Kind = 2  // both: still here
	kindRun      wire.Kind = 3  // client: runRequest
	kindCancel   wire.Kind = 4  // client
	kindOut      wire.Kind = 5  // host: a stream's number and bytes
	kindTaken    wire.Kind = 6  // client: so many bytes of a stream were taken
	kindEnded    wire.Kind = 7  // host: how the program ended; it waits for kindRecorded
	kindRecorded wire.Kind = 8  // client: that is on record, or could not be recorded
	kindRunning  wire.Kind = 9  // host: what is adopted still runs
	kindAdopt    wire.Kind = 10 // client: an action's ID, and kindDone with an outcome comes
	kindIsOpen   wire.Kind = 11 // client: an action's ID
	kindDiscard  wire.Kind = 12 // client: an action's ID
	kindResolve  wire.Kind = 13 // client: a reference
	kindDone     wire.Kind = 14 // host: the call's end
	kindRefused  wire.Kind = 15 // host: no greeting, and why not
	kindShip     wire.Kind = 16 // client: an image that it can send
	kindWant     wire.Kind = 17 // host: a piece of a content that it lacks
	kindPiece    wire.Kind = 18 // client: that piece
	kindLook     wire.Kind = 19 // client: plugs, and kindDone says where each leads
	kindBring    wire.Kind = 20 // client: files of an artifact that it can send
)

// Hello is what the client says of itself.
type Hello struct {
	Build   string `json:"build"`             // of the program; both ends must be of one
	Lineage string `json:"lineage,omitempty"` // of the state that actions are recorded in
	Epoch   int64  `json:"epoch,omitempty"`   // of its holder; 0 = this client only looks
	Run     string `json:"run,omitempty"`     // the name of the command's records
	// Store and Turn tell holders of one epoch apart, which come one after the other
	// when the first records nothing: the state that is shared, and a number that grows
	// with each that has it; "" and 0 = a file, which has one holder at a time.
	Store   string `json:"store,omitempty"`
	Turn    uint64 `json:"turn,omitempty"`
	Process string `json:"process,omitempty"` // who, for people
}

// Welcome is what the host says of itself.
type Welcome struct {
	Build string             `json:"build"`
	Boot  string             `json:"boot"` // another after each start of the machine
	Facts protocol.HostFacts `json:"facts"`
	Clock time.Time          `json:"clock"`
	Runc  string             `json:"runc,omitempty"` // the version of what makes containers; "" = not known
	Free  int64              `json:"free_bytes"`     // room for its data directory
}

// runRequest is a runner.Spec on its way.
type runRequest struct {
	Spec   runner.Spec `json:"spec"`
	Stdout bool        `json:"stdout,omitempty"` // somebody watches
	Stderr bool        `json:"stderr,omitempty"`
	Ended  bool        `json:"ended,omitempty"` // somebody wants to be told first
}

// newRunRequest takes from a Spec what can travel.
func newRunRequest(s runner.Spec) runRequest {
	r := runRequest{Spec: s, Stdout: s.Stdout != nil, Stderr: s.Stderr != nil, Ended: s.Ended != nil}
	r.Spec.Stdout, r.Spec.Stderr, r.Spec.Ended = nil, nil, nil
	return r
}

// ending is how a run ended.
type ending struct {
	Result *runner.Result `json:"result,omitempty"` // nil in a kindDone after a kindEnded: as it was said there
	Error  *failure       `json:"error,omitempty"`
}

// answer ends every other call; what is not asked for is empty.
type answer struct {
	Error   *failure        `json:"error,omitempty"`
	Open    bool            `json:"open,omitempty"`
	Image   *runner.Image   `json:"image,omitempty"`
	Outcome *runner.Outcome `json:"outcome,omitempty"`
	Seen    []Seen          `json:"seen,omitempty"`
}

// Files are those of an artifact, which the client can send as a tar archive.
type Files struct {
	Key  string `json:"key"`
	Name string `json:"name"` // of the artifact, for people
	Tree string `json:"tree"` // hash over everything in them
}

// Plug is a path of a manifest that types on the host may be given.
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

// failure is an error on its way: its text, and what is known of its type.
type failure struct {
	Text      string        `json:"text"`
	Type      string        `json:"type,omitempty"`
	After     time.Duration `json:"after_ns,omitempty"`
	Killed    bool          `json:"killed,omitempty"`
	Limit     int64         `json:"limit,omitempty"`
	TooDeep   bool          `json:"too_deep,omitempty"`
	Container string        `json:"container,omitempty"`
	Cause     string        `json:"cause,omitempty"`
}

// The types of errors that keep their meaning on the way.
const (
	typeTimeout   = "timeout"
	typeOutput    = "output"
	typeDisk      = "disk"
	typeUnknown   = "unknown"
	typeWorker    = "worker"
	typeNoImage   = "no_image"
	typeCancelled = "cancelled"
)

// errCancelled is the cause of what a client has cancelled, at the host's end.
var errCancelled = errors.New("the client has cancelled it")

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
	)
	switch {
	case errors.As(err, &timeout):
		f.Type, f.After, f.Killed = typeTimeout, timeout.After, timeout.Killed
	case errors.As(err, &output):
		f.Type, f.Limit = typeOutput, output.Limit
	case errors.As(err, &disk):
		f.Type, f.Limit, f.TooDeep = typeDisk, disk.Limit, disk.TooDeep
	case errors.As(err, &unknown):
		f.Type, f.Container, f.Cause = typeUnknown, unknown.Container, unknown.Err.Error()
	case errors.As(err, &worker):
		f.Type, f.Cause = typeWorker, worker.Reason
	case errors.Is(err, runner.ErrNoImage):
		f.Type = typeNoImage
	case errors.Is(err, errCancelled):
		f.Type = typeCancelled
	}
	return f
}

// decode returns the error with its text and its type; cancelled is why the call
// was cancelled here, if it was.
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
		as = &runner.UnknownError{Container: f.Container, Err: errors.New(f.Cause)}
	case typeWorker:
		as = &runner.WorkerError{Reason: f.Cause}
	case typeNoImage:
		as = runner.ErrNoImage
	case typeCancelled:
		if cancelled != nil {
			return fmt.Errorf("it was cancelled: %w", cancelled)
		}
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

// remoteError has the text that the host gave, and the type of the error there.
type remoteError struct {
	text string
	as   error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.as }

// decode reads a message's body.
func decode[T any](m wire.Message) (T, error) {
	var v T
	if err := json.Unmarshal(m.Body, &v); err != nil {
		return v, fmt.Errorf("the other end sends what is no message %d: %w", m.Kind, err)
	}
	return v, nil
}
