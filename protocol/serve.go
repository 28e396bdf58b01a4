package protocol

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"runtime/debug"
	"syscall"
	"time"

	"deployster/protocol/internal/fingerprint"
)

// Resource is a resource type whose config is a C and whose state is an S, both
// structs that encoding/json encodes. One value serves all calls; in a worker they
// run concurrently.
type Resource[C, S any] interface {
	// Read returns the real state, and changes nothing; nil means that the object does
	// not exist. An error of the type *TypeError (see Errorf) has a class that shows
	// deployster whose fault it is; any other is a failure of this run.
	Read(ctx context.Context, c *Call[C, S]) (*S, error)

	// Write makes the object match c.Config: it creates it if it does not exist
	// (c.Have is nil), or else changes it. Deployster may run it again after a crash.
	Write(ctx context.Context, c *Call[C, S]) error
}

// Deleter is implemented by types that can remove their objects.
type Deleter[C, S any] interface {
	// Delete removes the object. It succeeds if the object no longer exists.
	Delete(ctx context.Context, c *Call[C, S]) error
}

// Comparer is implemented by types for which comparing the config with the state,
// field by field of the same JSON name, does not decide whether the state is valid.
type Comparer[C, S any] interface {
	// Compare returns how have differs from c.Config; no reasons = it is valid. What
	// the config leaves out must be unset. The caller adds secrets that have changed.
	Compare(c *Call[C, S], have *S) []Reason
}

// Plan is what a Planner decides to do.
type Plan struct {
	Actions       []Action // at least one; an action without a command is run as this image with its name as the argument
	ShutdownFirst *Action  // runs before deployster changes anything else
	Reasons       []Reason
	Forecast      any      // what is already known of the state after the actions: a part of an S; nil = nothing
	MayDiffer     bool     // the state after the actions may differ from Forecast
	Unknown       []string // JSON pointers into the state: values that are known only after the actions
}

// Planner is implemented by types that plan their actions themselves, instead of one
// action "create" or "update". It replaces Comparer; its plan must unset what the
// config leaves out, and set the secrets in c.ChangedSecrets.
type Planner[C, S any] interface {
	// Plan returns what makes the object match the config; nil = it matches. have is
	// nil when the object does not exist. Plan is called for the intent Present only.
	Plan(ctx context.Context, c *Call[C, S], have *S) (*Plan, error)
}

// Actor is implemented by types whose plans have actions other than create and update
// (which call Write) and delete (which calls Delete).
type Actor[C, S any] interface {
	// Act carries out the action c.Action.
	Act(ctx context.Context, c *Call[C, S]) error
}

// About describes a type beyond its methods.
type About struct {
	Label        string                 // a name for people
	Kind         string                 // the kind of object; "" = the image's repository
	AutoEdges    []AutoEdge             // automatic dependencies, for manifests with auto_edges
	Plugs        map[string]PlugRequest // the files and directories of the host that it needs, by name
	PlugsIn      []string               // JSON pointers to config values that may name a plug, or a path below PlugsDir
	Dependencies bool                   // it needs Call.Dependencies
	Refresh      bool                   // it needs Call.Refresh and Call.Changed
	Memory       bool                   // it uses Call.Remember, and needs Call.Memory and Call.Unsettled
	Unknowns     bool                   // it accepts values that are not known yet, with their pointers in Call.Unknown
	Independent  bool                   // its resources change only with their own config, whatever happens to others
	Needs        []string               // what its type block must give it, such as whole-machine
	ByPerson     bool                   // a watch repairs its resources only if their watch block declares it
	Worker       bool                   // its methods may be called concurrently, so that one process can serve many calls
	Actions      []string               // the names of all its actions; nil = not declared
	Batch        *Batch                 // the actions of a BatchActor; nil = each action is carried out alone
	Reuse        bool                   // its container may be used for several queries
	ReuseActions bool                   // and for several actions, one at a time; it needs Reuse
	Docs         map[string]string      // descriptions of fields of the config, by JSON name: for those too long for a tag
	ConfigSchema []byte                 // JSON Schema; nil = SchemaOf[C]
	StateSchema  []byte                 // JSON Schema; nil = derived from the fields of S
}

// Call is one invocation. Besides the fields below it has those of the input: Name,
// Type, Version, Verbose, Workspace, Intent, Dependencies, and in actions Action and
// IdempotencyKey.
type Call[C, S any] struct {
	ActionInput

	Config    C  // with its defaults filled in
	LastState *S // the recorded state: a hint, never the truth; nil = none, or none that is an S
	Have      *S // in actions: the real state when they were planned; nil = nothing existed
	// ChangedSecrets has JSON pointers into the config, to the writeOnly fields that
	// differ from those recorded with the state. It is set only in Plan and Compare.
	ChangedSecrets []string

	// Args has, in actions, the arguments that the plan gave the action after the first: what
	// the action may do because the plan has shown it.
	Args []string

	Operation string          // in operations: the name
	Input     json.RawMessage // in operations: the input, which matches the schema of the operation

	said json.RawMessage // the memory that the call has set, null after Forget; nil = not set

	Log io.Writer // the user reads it at once: stderr
	Out io.Writer // in actions, also for the user: stdout, or stderr if the type has a memory
}

// Logf writes a line to Log, which the user reads at once.
func (c *Call[C, S]) Logf(format string, args ...any) {
	_, _ = fmt.Fprintf(c.Log, format+"\n", args...)
}

// Errorf returns an error that shows deployster the class of the failure. path is a
// JSON pointer into the config, or "".
func Errorf(class ErrorClass, path, format string, args ...any) error {
	return &TypeError{Class: class, Path: path, Message: fmt.Sprintf(format, args...)}
}

// The arguments of the invocations of a type; an action's argument is its name.
const (
	stateArg    = "state"
	watchArg    = "watch"
	workerArg   = "worker"
	discoverArg = "discover"
	validateArg = "validate"
)

// The names of the actions that this package plans.
const (
	createAction = "create"
	updateAction = "update"
	deleteAction = "delete"
)

// The exit codes of a program that uses this package.
const (
	exitOK         = 0
	exitFailed     = 1
	exitUsage      = 2
	exitTerminated = 128 + int(syscall.SIGTERM)
)

// queryGrace is how long Read may continue after SIGTERM. Read changes nothing, so the
// process can then exit without loss; deployster would wait ten seconds.
const queryGrace = 2 * time.Second

// Serve answers this one invocation of the program and ends the process. A SIGTERM
// cancels the context of the method that runs. While Serve makes an answer, os.Stdout
// is os.Stderr, so that what the method prints never spoils the answer.
func Serve[C, S any](r Resource[C, S], about About) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	p := Process{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	looks := len(p.Args) == 0 || p.Args[0] == stateArg || p.Args[0] == watchArg || p.Args[0] == discoverArg ||
		p.Args[0] == validateArg
	if about.Memory || looks || p.Args[0] == workerArg {
		os.Stdout = os.Stderr
	}
	if looks {
		context.AfterFunc(ctx, func() {
			time.Sleep(queryGrace)
			os.Exit(exitTerminated)
		})
	}
	os.Exit(Run(ctx, r, about, p))
}

// Process is the process that Run works with; tests pass another than the real one.
type Process struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Run answers one invocation, or serves as a worker until its stdin ends, and returns
// the exit code.
func Run[C, S any](ctx context.Context, r Resource[C, S], about About, p Process) int {
	s := newServer(r, about)
	if len(p.Args) > 0 && p.Args[0] == workerArg && about.Worker {
		return serveWorker(ctx, p, s.answer, s.together)
	}
	return s.answer(ctx, p)
}

// server answers the invocations of a type.
type server[C, S any] struct {
	r      Resource[C, S]
	about  About
	secret bool // the config may have secrets, of which states get fingerprints
}

func newServer[C, S any](r Resource[C, S], about About) server[C, S] {
	return server[C, S]{r: r, about: about, secret: fingerprint.Needed(reflect.TypeFor[C]())}
}

// answer carries out one invocation. If the type panics, only this invocation fails.
func (s server[C, S]) answer(ctx context.Context, p Process) (code int) {
	defer func() {
		if v := recover(); v != nil {
			_, _ = fmt.Fprintf(p.Stderr, "panic: %v\n%s", v, debug.Stack())
			code = exitUsage
		}
	}()
	err := s.step(ctx, p)
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil:
		_, _ = fmt.Fprintf(p.Stderr, "ended on request (%s)\n", err)
		return exitTerminated
	}
	_, _ = fmt.Fprintln(p.Stderr, err)
	return exitFailed
}

func (s server[C, S]) step(ctx context.Context, p Process) error {
	watcher, watches := s.r.(Watcher[C, S])
	discoverer, discovers := s.r.(Discoverer[C, S])
	guarded, guards := s.r.(Guarded[C, S])
	operator, operates := s.r.(Operator[C, S])
	validator, validates := s.r.(Validator[C])
	switch {
	case len(p.Args) == 0:
		return s.init(p)
	case len(p.Args) > 1 && (p.Args[0] == stateArg || p.Args[0] == watchArg || p.Args[0] == discoverArg):
		return fmt.Errorf("%s takes no further arguments: %q", p.Args[0], p.Args)
	case p.Args[0] == stateArg:
		return s.state(ctx, p)
	case watches && p.Args[0] == watchArg:
		return s.watch(ctx, p, watcher)
	case discovers && p.Args[0] == discoverArg:
		return s.discover(ctx, p, discoverer)
	case validates && p.Args[0] == validateArg && len(p.Args) == 1:
		return validate(ctx, p, validator)
	case guards && len(p.Args) == 1 && (p.Args[0] == saveArg || p.Args[0] == undoArg):
		return s.guard(ctx, p, guarded)
	case operates && len(p.Args) > 1 && p.Args[0] == operationArg:
		return s.operate(ctx, p, operator)
	}
	return s.act(ctx, p)
}
