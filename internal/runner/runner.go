package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Runner runs images. Implementations are safe for concurrent use.
type Runner interface {
	// Resolve finds an image that is already here by the name a user wrote,
	// normalised as docker does ("acme/file" is docker.io/acme/file:latest), or
	// by "sha256:<digest>". The error wraps ErrNoImage when there is none.
	Resolve(ctx context.Context, reference string) (Image, error)

	// Run carries out one invocation and returns when nothing of it is left.
	// The error is nil whenever the program ran and ended by itself, whatever
	// its exit code. When ctx is cancelled the program gets SIGTERM, the grace
	// time, then SIGKILL, and the error wraps context.Cause(ctx). Other errors
	// are *TimeoutError, *OutputError, *DiskError, *UnknownError, ErrNoImage, or
	// say what the container runtime could not do. The Result is filled as far as it is known even
	// when there is an error.
	Run(ctx context.Context, s Spec) (Result, error)
}

// Image is an image that is here.
type Image struct {
	Reference string // the full name, e.g. docker.io/acme/file:1
	Digest    string // of its manifest or index, "sha256:..."
	Pulled    bool   // it came from a registry, where it can be had again
}

// Kind says what an invocation may do to the world.
type Kind string

// The kinds: a query only looks, and may be ended and asked again at any time;
// an action changes things and is never run twice behind the user's back.
const (
	Query  Kind = "query"
	Action Kind = "action"
)

// Spec is one invocation.
type Spec struct {
	Name       string // for people and labels: "web/state"
	Kind       Kind
	Digest     string   // the image, by digest
	Entrypoint string   // replaces the image's Entrypoint and drops its Cmd
	Args       []string // replace the image's Cmd
	Stdin      []byte
	Mounts     []Mount
	Settings   Settings
	Cwd        string // where the program starts, instead of the image's; absolute

	// Volumes and Answer are directories and a file of this run's own. Who has any gets
	// a container of its own. They are nothing that could be launched.
	Volumes []Volume `json:"-"`
	Answer  *Answer  `json:",omitempty"`

	// Worker may carry this out in place of a container of its own, with the
	// same meaning: it is given the Args and the Stdin. nil = none can.
	Worker *Worker

	// Reuse: a query may be carried out in a running container that others with
	// the same image, mounts and settings use too, with the same meaning. An
	// action always has a container of its own.
	Reuse bool

	// Keep: a program that is spoken to may be one that an earlier command has
	// used, and may be kept for a later one. See Process.
	Keep bool

	// ID tells an action from all others, of any project; see Adopter. What is
	// "" cannot be adopted, and its traces go with its client.
	ID string

	// Ended is told how the program ended, as soon as that is known for sure
	// and before anything that proves it is removed: when it has made that
	// durable, the end of an action is always on record or can be found out by
	// Adopt. Its error is Run's, and leaves the proof for Adopt. It is not
	// called when the error is an *UnknownError or nothing was begun. nil =
	// nobody wants to know.
	Ended func(Result, error) error `json:"-"`

	Timeout time.Duration // 0 = none
	Grace   time.Duration // between SIGTERM and SIGKILL; 0 = DefaultGrace

	MaxStdout int64 // bytes; beyond it the program is killed and an *OutputError returned; 0 = no limit
	KeepLog   int64 // bytes of stderr (and, for an action, of stdout) kept in the Result: half head, half tail; 0 = DefaultKeepLog
	LogStdout bool  // the stdout of a query is a log too

	// Stdout and Stderr get what the program prints while it runs; nil = nobody
	// watches. They are called from one goroutine at a time each, and a slow or
	// failing writer never changes how the invocation ends.
	Stdout, Stderr io.Writer
}

// DefaultGrace is the time between SIGTERM and SIGKILL.
const DefaultGrace = 10 * time.Second

// DefaultKeepLog is how much of a log is kept, in bytes.
const DefaultKeepLog = 128 << 10

// Logs reports whether what the program prints on stdout is a log, of which head and
// tail are kept, and no answer.
func (s Spec) Logs() bool { return s.Kind == Action || s.LogStdout }

// KeepOutcome is how much is kept of the stdout of an action that ended when its
// client was gone, in bytes: what it says there may be all that is known of what it made.
const KeepOutcome = 5 << 20

// Mount is a file or directory of this host, seen in the container.
type Mount struct {
	Source   string `json:"source"` // on this host; where it is kept, a relative one begins at the directory of the root manifest
	Target   string `json:"target"` // absolute, in the container
	Writable bool   `json:"writable,omitempty"`

	// Own: the source is a directory that the runner or the store of artifacts has made,
	// which no mount else may show.
	Own bool `json:"-"`

	// Files: the source names files of an artifact, and the container is on another
	// machine. nil = it is a path there, or the container is here.
	Files *Files `json:"-"`
}

// Result is how an invocation ended.
type Result struct {
	ExitCode int
	Stdout   []byte // whole for a query; for an action head and tail, like Stderr
	Stderr   []byte // the first and the last KeepLog/2 bytes, with a line between that says what was left out
	OOM      bool   // the kernel ended it for want of memory
	Duration time.Duration

	// Answer is what an action wrote into the file for it; nil = there is no such file. It
	// is also that of one which failed. Fault says why it cannot be read.
	Answer []byte `json:",omitempty"`
	Fault  string `json:",omitempty"`
}

// ErrNoImage is wrapped when an image is not here.
var ErrNoImage = errors.New("image not found")

// TimeoutError says that a program was ended because its time was up.
type TimeoutError struct {
	After  time.Duration
	Killed bool // it did not obey SIGTERM
}

func (e *TimeoutError) Error() string {
	if e.Killed {
		return fmt.Sprintf("timed out after %s and was killed, because it ignored SIGTERM", e.After)
	}
	return fmt.Sprintf("timed out after %s", e.After)
}

// OutputError says that a program was killed because it printed too much.
type OutputError struct {
	Limit int64 // bytes
}

func (e *OutputError) Error() string {
	return fmt.Sprintf("printed more than %d bytes on stdout and was killed", e.Limit)
}

// DiskError says that a program was killed because its own files took too much
// room, or could not be measured.
type DiskError struct {
	Limit   int64 // bytes
	TooDeep bool  // there are more than MaxDepth directories in each other
}

func (e *DiskError) Error() string {
	if e.TooDeep {
		return fmt.Sprintf("made more than %d directories in each other, whose files cannot be measured, and was killed", MaxDepth)
	}
	return fmt.Sprintf("filled more than %d bytes of its own files and was killed", e.Limit)
}

// UnknownError says that the container runtime was lost while a program ran:
// the program may have ended, may still be running, and its exit code is not
// known. It is never to be taken for a failure of the program.
type UnknownError struct {
	Container string // the container's name there, to look for it
	Err       error
	Over      bool // it does not run any more, for sure
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("the outcome is unknown, because the container runtime was lost while the program ran (container %s): %s", e.Container,
		e.Err)
}

// Unwrap returns the cause.
func (e *UnknownError) Unwrap() error { return e.Err }
