package protocol

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"
)

// Resource is a type of resources whose config is a C and whose state is an S,
// both structs of which JSON is made. One value serves all calls; those of a
// worker come at the same time.
type Resource[C, S any] interface {
	// Read says what is there, and changes nothing; nil means that it does not
	// exist. An error of the kind *TypeError (see Errorf) tells deployster whose
	// fault it is; any other is a failure of this run.
	Read(ctx context.Context, c *Call[C, S]) (*S, error)

	// Write makes it as c.Config wants it: it creates what is not there
	// (c.Have is nil), and changes what is. It may be run again after a crash.
	Write(ctx context.Context, c *Call[C, S]) error
}

// Deleter is implemented by types that can remove what they made.
type Deleter[C, S any] interface {
	// Delete removes it. That it is gone already is no error.
	Delete(ctx context.Context, c *Call[C, S]) error
}

// Comparer is implemented by types for which the comparison of the config with
// the state, field by field of the same JSON name, is not what makes it right.
type Comparer[C, S any] interface {
	// Compare says in what have is not as c.Config wants it; nothing = it is right.
	// What the config leaves out must be unset. Secrets that have changed are added.
	Compare(c *Call[C, S], have *S) []Reason
}

// Plan is what a Planner wants to be done.
type Plan struct {
	Actions       []Action // at least one; an action without a command is run as this image with its name as the argument
	ShutdownFirst *Action  // to be run before anything else is changed
	Reasons       []Reason
	Forecast      any      // what is known already of the state after the actions: a part of an S; nil = nothing
	Unknown       []string // JSON pointers into the state: what is known only after the actions
}

// Planner is implemented by types that decide themselves what is to be done,
// in place of one action "create" or "update". It takes Comparer's place; what
// the config leaves out must be unset, and what is in c.ChangedSecrets be set.
type Planner[C, S any] interface {
	// Plan says what makes it right; nil = it is. have is nil when it does not
	// exist. It is asked for what is wanted only, not for what is to be removed.
	Plan(ctx context.Context, c *Call[C, S], have *S) (*Plan, error)
}

// Actor is implemented by types whose plans have actions of other names than
// create and update (which are Write) and delete (which is Delete).
type Actor[C, S any] interface {
	// Act carries out the action c.Action.
	Act(ctx context.Context, c *Call[C, S]) error
}

// About is what a type says of itself beside its methods.
type About struct {
	Label        string                 // a name for people
	Kind         string                 // what sort of thing it is; "" = the image's repository
	AutoEdges    []AutoEdge             // what its resources come after, where the manifest has auto_edges
	Plugs        map[string]PlugRequest // files and directories of the host that it asks for, by name
	Dependencies bool                   // it wants to see its dependencies, in Call.Dependencies
	Refresh      bool                   // it wants Call.Refresh and Call.Changed
	Memory       bool                   // it uses Call.Remember, and wants Call.Memory and Call.Unsettled
	Unknowns     bool                   // it can be asked while values are not known yet, with their pointers in Call.Unknown
	Worker       bool                   // its methods may be called at the same time, so that one process can serve many calls
	Reuse        bool                   // its container may be used for several runs
	ConfigSchema []byte                 // JSON Schema; nil = SchemaOf[C]
	StateSchema  []byte                 // JSON Schema; nil = one made of the fields of S
}

// Call is one invocation. Beside what is named here it has the fields of the
// input: Name, Type, Version, Verbose, Workspace, Intent, Dependencies, and in
// actions Action and IdempotencyKey.
type Call[C, S any] struct {
	ActionInput

	Config    C  // with its defaults filled in
	LastState *S // what deployster remembers: a hint, never the truth; nil = nothing, or nothing that is an S
	Have      *S // in actions: what was there when they were decided; nil = nothing
	// ChangedSecrets has JSON pointers into the config, to the fields with writeOnly
	// that are other than when the state was recorded. Only in Plan and Compare.
	ChangedSecrets []string

	said json.RawMessage // what is to be remembered, null for nothing; nil = nothing was said

	Log io.Writer // what the user is to read now: stderr
	Out io.Writer // in actions: what the user reads too: stdout, and stderr where the type has a memory
}

// Logf writes a line that the user reads now.
func (c *Call[C, S]) Logf(format string, args ...any) {
	_, _ = fmt.Fprintf(c.Log, format+"\n", args...)
}

// Errorf makes the error that tells deployster what kind of failure it is.
// path is a JSON pointer into the config, or "".
func Errorf(class ErrorClass, path, format string, args ...any) error {
	return &TypeError{Class: class, Path: path, Message: fmt.Sprintf(format, args...)}
}

// The arguments with which a type of this package is run; actions by their names.
const (
	stateArg    = "state"
	watchArg    = "watch"
	workerArg   = "worker"
	discoverArg = "discover"
)

// The actions that this package makes.
const (
	createAction = "create"
	updateAction = "update"
	deleteAction = "delete"
)

// The exit codes of a type of this package.
const (
	exitOK         = 0
	exitFailed     = 1
	exitUsage      = 2
	exitTerminated = 128 + int(syscall.SIGTERM)
)

// queryGrace is what Read gets to end after SIGTERM. It changes nothing, so
// nothing is lost when the process then goes; deployster would wait ten seconds.
const queryGrace = 2 * time.Second

// Serve answers this one invocation of the program and ends the process. A
// SIGTERM cancels the context of the method that runs. What that method
// prints on os.Stdout, while an answer is made, goes to stderr, so that it
// never spoils the answer.
func Serve[C, S any](r Resource[C, S], about About) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	p := Process{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	looks := len(p.Args) == 0 || p.Args[0] == stateArg || p.Args[0] == watchArg || p.Args[0] == discoverArg
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

// Process is what Run sees of the process: in tests not the real one.
type Process struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Run answers one invocation, or serves as a worker until its stdin ends, and
// gives the exit code.
func Run[C, S any](ctx context.Context, r Resource[C, S], about About, p Process) int {
	s := server[C, S]{r: r, about: about}
	if len(p.Args) > 0 && p.Args[0] == workerArg && about.Worker {
		return serveWorker(ctx, p, s.answer)
	}
	return s.answer(ctx, p)
}

// server is a type that answers.
type server[C, S any] struct {
	r     Resource[C, S]
	about About
}

// answer carries out one invocation. A panic of the type is a failure of it
// and of nothing else.
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
		_, _ = fmt.Fprintf(p.Stderr, "ended because it was asked to (%s)\n", err)
		return exitTerminated
	}
	_, _ = fmt.Fprintln(p.Stderr, err)
	return exitFailed
}

func (s server[C, S]) step(ctx context.Context, p Process) error {
	watcher, watches := s.r.(Watcher[C, S])
	discoverer, discovers := s.r.(Discoverer[C, S])
	switch {
	case len(p.Args) == 0:
		return s.init(p)
	case len(p.Args) > 1:
		return fmt.Errorf("this type takes one argument at the most, not %q", p.Args)
	case p.Args[0] == stateArg:
		return s.state(ctx, p)
	case watches && p.Args[0] == watchArg:
		return s.watch(ctx, p, watcher)
	case discovers && p.Args[0] == discoverArg:
		return s.discover(ctx, p, discoverer)
	}
	return s.act(ctx, p, p.Args[0])
}
