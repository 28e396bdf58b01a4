package workspace

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"time"

	"deployster/config"
	"deployster/internal/app/redact"
	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/internal/base/words"
	"deployster/internal/ui/events"
	"deployster/state"
)

// DefaultState is the name of the state file when none is given.
const DefaultState = "deployster.state.json"

// Std is the name of a plan or a report on stdin or stdout.
const Std = "-"

// Options declare where a workspace is, and to whom it reports.
type Options struct {
	Dir         string   // absolute
	Home        string   // the home directory of the user; "" = none
	Environ     []string // NAME=VALUE; of a repeated name the last counts
	Version     string   // of this program
	Verbose     bool
	Where       []string      // -chdir and -state as they were given, for command lines that messages show
	State       string        // the URL or the file of the state; "" = the one that the manifest names, or DefaultState
	DataDir     string        // where this machine keeps the data of its containers, or of this user; "" = nowhere
	CacheDir    string        // where it keeps what can be fetched again; "" = nowhere
	Take        string        // the claim on a shared state to end; "" = none
	NoLock      bool          // plan reads the state without a lock: others may change it meanwhile
	LockTimeout time.Duration // how long a command waits for a state that is in use
	Secrets     *redact.Redactor
	Stdin       io.Reader          // what is read from the file Std; nil = nothing
	Stdout      io.Writer          // where the file Std is written to; nil = nowhere
	UI          UI                 // nil = there is no person
	Events      func(events.Event) // nil = no program gets events
	// OpenImages opens the store of images that modules come from; nil = modules are only taken from where they are kept.
	OpenImages func(context.Context) (ModuleImages, error)
}

// UI is the person who runs the command.
type UI interface {
	// Diagnostics shows warnings, and errors that do not end the command.
	Diagnostics(diag.Diagnostics)
	// Printf prints a remark.
	Printf(format string, args ...any)
	// AskVariable prompts for the value of a variable.
	AskVariable(context.Context, config.Missing) (string, error)
}

// Workspace is a directory in which one command works.
type Workspace struct {
	Options
	Keys    *encryption.Keyring // for encrypted files
	Started time.Time           // the time of the plan that is made
	named   config.Encryption   // what the manifests name of keys
	Modules *Modules
	Kept    *state.Kept // for a process that opens the state again and again; nil = it does not
}

// New returns the workspace of one command.
func New(o Options) *Workspace {
	if o.Secrets == nil {
		o.Secrets = &redact.Redactor{}
	}
	if o.Events == nil {
		o.Events = func(events.Event) {}
	}
	w := &Workspace{Options: o, Started: time.Now(), Modules: newModules(o)}
	w.Keys = encryption.New(encryption.AsFound, func() (encryption.Keys, error) { return loadKeys(w.Options, config.Encryption{}) })
	return w
}

// Path makes a path of the user's absolute.
func (o Options) Path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(o.Dir, p)
}

// HomePath is Path where a leading ~ is the home directory.
func (o Options) HomePath(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && o.Home != "" {
		return filepath.Join(o.Home, rest)
	}
	return o.Path(path)
}

// Env returns the value of an environment variable.
func (o Options) Env(name string) string {
	for i := len(o.Environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(o.Environ[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// Note reports a remark, to people and to programs.
func (w *Workspace) Note(format string, args ...any) {
	e := events.Notef(format, args...)
	w.Events(e)
	if w.UI != nil {
		w.UI.Printf("%s\n", e.Message)
	}
}

// Diagnostics reports warnings, and errors that do not end the command, to people and
// programs. It hides secrets in them.
func (w *Workspace) Diagnostics(list diag.Diagnostics) {
	list = w.Secrets.Diagnostics(list)
	for _, d := range list {
		w.Events(events.OfDiagnostic(d))
	}
	if w.UI != nil {
		w.UI.Diagnostics(list)
	}
}

// Warn is Diagnostics for one.
func (w *Workspace) Warn(d *diag.Diagnostic) { w.Diagnostics(diag.Diagnostics{d}) }

// builtins returns what manifests read of their command, and of the time of the plan.
func (o Options) builtins(planned time.Time) config.Builtins {
	return config.Builtins{Version: o.Version, Verbose: o.Verbose, Workspace: o.Dir, Home: o.Home, PlanTime: planned}
}

// Typed returns a command line of this program as people type it, with the same directory
// and the same state.
func (o Options) Typed(command string, args ...string) string {
	line := append([]string{"deployster"}, o.Where...)
	line = append(append(line, command), args...)
	for i, word := range line {
		line[i] = words.Shell(word)
	}
	return strings.Join(line, " ")
}
