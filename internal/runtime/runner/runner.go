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
	// Resolve finds an image on this machine by the name that a user wrote, normalised
	// as docker does ("acme/file" is docker.io/acme/file:latest), or by
	// "sha256:<digest>". The error wraps ErrNoImage when there is none.
	Resolve(ctx context.Context, reference string) (Image, error)

	// Run carries out one invocation, and returns when its container is removed. The error is nil
	// whenever the program ran and ended by itself, whatever its exit code. When ctx is cancelled
	// the program gets SIGTERM, the grace time, then SIGKILL, and the error wraps
	// context.Cause(ctx). Other errors are *TimeoutError, *OutputError, *DiskError, *UnknownError,
	// ErrNoImage, or report what the container runtime could not do. The Result is filled in as far
	// as it is known, even when there is an error.
	Run(ctx context.Context, s Spec) (Result, error)
}

// Image is an image on this machine.
type Image struct {
	Reference string // the full name, e.g. docker.io/acme/file:1
	Digest    string // of its manifest or index, "sha256:..."
	Pulled    bool   // it came from a registry and can be pulled again
}

// Kind reports what an invocation may do to the world.
type Kind string

// The kinds: a query changes nothing, and may be cancelled and repeated at any time; an
// action changes something, and deployster never repeats it without the user's consent.
const (
	Query  Kind = "query"
	Action Kind = "action"
)

// Spec is one invocation.
type Spec struct {
	Name       string // for people and labels: "web/state"
	Kind       Kind
	Digest     string   // the image, by digest
	Reference  string   `json:",omitempty"` // the image, as the manifest or its type names it
	Entrypoint string   // replaces the image's Entrypoint and drops its Cmd
	Args       []string // replace the image's Cmd
	Stdin      []byte
	Mounts     []Mount
	Settings   Settings
	Cwd        string // where the program starts, instead of the image's; absolute

	// Confidential: its input, environment or files have the value of a secret, or it prints one. Its files are in
	// memory alone, and the outcome that is kept of an action without its client has no output.
	Confidential bool `json:",omitempty"`
	// Secrets are the values that it gets: the outcome that is kept has no memory with one of them.
	Secrets []string `json:",omitempty"`
	// SecretEnv are further variables of its environment. They are not in the container's specification.
	SecretEnv map[string]string `json:",omitempty"`

	// Volumes and Answer are directories and a file of this run alone. A Spec with any
	// of them gets a container of its own. A Launcher does not support them.
	Volumes []Volume `json:"-"`
	Answer  *Answer  `json:",omitempty"`

	// Worker may carry out this invocation instead of a container of its own, with the
	// same meaning: it gets the Args and the Stdin. nil = none can.
	Worker *Worker

	// Batch: an action with a Worker is a member of a batch; nil = it is requested alone.
	Batch *Batch `json:",omitempty"`

	// Guard: the action belongs to the Group with this Key, which has a Protection of its resource; "" = none.
	Guard string `json:",omitempty"`
	// Reuse: the invocation may run in a container that others with the same image, mounts and settings
	// use too, with the same meaning. An action needs ReuseActions too.
	Reuse bool
	// ReuseActions: actions of the same Reference may run in that container, one at a time and by their IDs,
	// and nothing of another Reference.
	ReuseActions bool `json:",omitempty"`
	// Expected is how many such invocations the command is going to make; 0 = unknown.
	Expected int `json:"-"`

	// Keep: Launch may take over a program that an earlier command has used, and the
	// program may be kept for a later command. See Process.
	Keep bool

	// ID identifies an action among those of all projects; see Adopter. An action with
	// ID "" cannot be adopted, and its traces are removed with its client.
	ID string

	// Ended is called with the end of the program, as soon as that is certain and
	// before the proof of it is removed. Ended makes it durable; so the end of an
	// action is always recorded, or can be found out by Adopt. An error of Ended is
	// returned by Run, and keeps the proof for Adopt. Ended is not called if the error
	// is an *UnknownError or nothing was begun. nil = no callback.
	Ended func(Result, error) error `json:"-"`

	Timeout time.Duration // 0 = none
	Grace   time.Duration // between SIGTERM and SIGKILL; 0 = DefaultGrace

	MaxStdout int64 // bytes; beyond it the program is killed and an *OutputError returned; 0 = no limit
	KeepLog   int64 // bytes of stderr (and, for an action, of stdout) kept in the Result: half head, half tail; 0 = DefaultKeepLog
	LogStdout bool  // the stdout of a query is a log, and not an answer

	ListWrites bool `json:",omitempty"` // list in Result.Wrote what it leaves in its own files

	// Waiting is called with each new reason why the program has not begun yet, as in a cluster
	// without room for it, and with "" when it begins. Calls follow one another. nil = no callback.
	Waiting func(reason string) `json:"-"`

	// Stdout and Stderr get the program's output while it runs; nil = discarded. Each
	// is called from one goroutine at a time. A slow or failing writer never changes
	// how the invocation ends.
	Stdout, Stderr io.Writer
}

// Sharers returns the name of those who may share a container with the invocation; "" = all of the same image.
func (s Spec) Sharers() string {
	if !s.ReuseActions {
		return ""
	}
	return s.Reference
}

// DefaultGrace is the time between SIGTERM and SIGKILL.
const DefaultGrace = 10 * time.Second

// DefaultKeepLog is the default of Spec.KeepLog, in bytes.
const DefaultKeepLog = 128 << 10

// Logs reports whether the program's stdout is a log, of which head and tail are kept,
// and not an answer.
func (s Spec) Logs() bool { return s.Kind == Action || s.LogStdout }

// KeepOutcome is how many bytes are kept of the stdout of an action that ended after its
// client: this output may be the only record of what the action created.
const KeepOutcome = 5 << 20

// Mount is a file or directory of this host that the container sees.
type Mount struct {
	Source   string `json:"source"` // on this host; a stored relative path begins at the directory of the root manifest
	Target   string `json:"target"` // absolute, in the container
	Writable bool   `json:"writable,omitempty"`

	// Content is the content of the file that is mounted, read-only and in memory, in place of a Source; "" = the Source is.
	Content string `json:"content,omitempty"`

	// Own: the source is a directory that the runner or the store of artifacts has made.
	// No other mount may show it.
	Own bool `json:"-"`

	// Files: the source names files of an artifact, and the container is on another
	// machine. nil = the source is a path there, or the container is on this machine.
	Files *Files `json:"-"`
}

// Result reports how an invocation ended.
type Result struct {
	ExitCode int
	Stdout   []byte // complete for a query; for an action head and tail, like Stderr
	Stderr   []byte // the first and the last KeepLog/2 bytes, with a line between that reports how much was left out
	OOM      bool   // the kernel killed it because memory ran out
	Duration time.Duration

	// Answer is the content of the file for an action's answer; nil = the file does not
	// exist. A failed action may have one too. Fault reports why the file cannot be read.
	Answer []byte `json:",omitempty"`
	Fault  string `json:",omitempty"`

	// Pod is the Pod in which it ran, in a cluster.
	Pod string `json:",omitempty"`

	// Wrote has the first files that it left in its own files, sorted, if Spec.ListWrites requests them and
	// the runner can see them. They are thrown away.
	Wrote []string `json:",omitempty"`
}

// ErrNoImage reports that this machine does not have an image.
var ErrNoImage = errors.New("image not found")

// TimeoutError reports that a program was ended because its time limit was exceeded.
type TimeoutError struct {
	After  time.Duration
	Killed bool // it ignored SIGTERM
}

func (e *TimeoutError) Error() string {
	if e.Killed {
		return fmt.Sprintf("timed out after %s and was killed, because it ignored SIGTERM", e.After)
	}
	return fmt.Sprintf("timed out after %s", e.After)
}

// OutputError reports that a program was killed because it printed too much.
type OutputError struct {
	Limit int64 // bytes
}

func (e *OutputError) Error() string {
	return fmt.Sprintf("printed more than %d bytes on stdout and was killed", e.Limit)
}

// DiskError reports that a program was killed because its own files exceeded the limit, or
// could not be measured.
type DiskError struct {
	Limit   int64 // bytes
	TooDeep bool  // its directories are nested more deeply than MaxDepth
}

func (e *DiskError) Error() string {
	if e.TooDeep {
		return fmt.Sprintf("created more than %d nested directories, whose files cannot be measured, and was killed", MaxDepth)
	}
	return fmt.Sprintf("filled more than %d bytes of its own files and was killed", e.Limit)
}

// UnknownError reports that the container runtime was lost while a program ran: the
// program may have ended or may still run, and its exit code is unknown. It must never
// be taken for a failure of the program.
type UnknownError struct {
	Container string // the container's name in the runtime, to search for it
	Err       error
	Over      bool // the program certainly no longer runs
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("the outcome is unknown, because the container runtime was lost while the program ran (container %s): %s",
		e.Container, e.Err)
}

// Unwrap returns the cause.
func (e *UnknownError) Unwrap() error { return e.Err }

// MachineError reports that an image may not have the whole machine.
type MachineError struct {
	Reference string
	Why       string // part of a sentence
}

func (e *MachineError) Error() string {
	return e.Reference + " may not have the whole machine: " + e.Why
}
