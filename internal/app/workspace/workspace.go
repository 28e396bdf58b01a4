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

// DefaultState is the name of the state file when nobody says another.
const DefaultState = "deployster.state.json"

// Std is the name of a plan or a report that comes from stdin, or goes to stdout.
const Std = "-"

// Options say where a workspace is, and who is told what goes on there.
type Options struct {
	Dir         string   // absolute
	Home        string   // of the user; "" = there is none
	Environ     []string // NAME=VALUE; of a name that is there twice the last counts
	Version     string   // of this program
	Verbose     bool
	Where       []string      // -chdir and -state as they were given, for commands that people are told to type
	State       string        // the URL or the file of the state; "" = what the manifest names, or DefaultState
	DataDir     string        // where this machine runs containers
	Programs    string        // the directory with the programs that lie beside this one
	Take        string        // a claim on a shared state that is ended; "" = none
	NoLock      bool          // plan reads a state that others may change meanwhile
	LockTimeout time.Duration // how long a command waits for a state that is in use
	Secrets     *redact.Redactor
	Stdin       io.Reader          // what the file Std is when it is read; nil = there is none
	Stdout      io.Writer          // what the file Std is when it is written; nil = there is none
	UI          UI                 // nil = nobody looks on
	Events      func(events.Event) // nil = no program does
}

// UI is a person who looks on and can be asked.
type UI interface {
	// Diagnostics shows warnings, and errors that do not end the command.
	Diagnostics(diag.Diagnostics)
	// Printf remarks something.
	Printf(format string, args ...any)
	// AskVariable asks for the value of a variable.
	AskVariable(context.Context, config.Missing) (string, error)
}

// Workspace is a directory in which one command works.
type Workspace struct {
	Options
	Keys    *encryption.Keyring // of what is encrypted
	Started time.Time           // the time of the plan that is made
	Kept    *state.Kept         // of who opens the state again and again; nil = nobody does
}

// New returns the workspace of one command.
func New(o Options) *Workspace {
	if o.Secrets == nil {
		o.Secrets = &redact.Redactor{}
	}
	if o.Events == nil {
		o.Events = func(events.Event) {}
	}
	w := &Workspace{Options: o, Started: time.Now()}
	w.Keys = encryption.New(encryption.AsFound, func() (encryption.Keys, error) { return w.loadKeys(config.Encryption{}) })
	return w
}

// Path makes a path of the user's absolute.
func (o Options) Path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(o.Dir, p)
}

// HomePath is Path where ~ is the home directory.
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

// Note remarks something, to people and to programs.
func (w *Workspace) Note(format string, args ...any) {
	e := events.Notef(format, args...)
	w.Events(e)
	if w.UI != nil {
		w.UI.Printf("%s\n", e.Message)
	}
}

// Diagnostics tells people and programs of warnings, and of errors that do not end
// the command. What they quote is told without secrets.
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

func (w *Workspace) builtins() config.Builtins {
	return config.Builtins{Version: w.Version, Verbose: w.Verbose, Workspace: w.Dir, Home: w.Home, PlanTime: w.Started}
}

// Typed returns a command line of this program as people type it, in the same
// directory and on the same state.
func (o Options) Typed(command string, args ...string) string {
	line := append([]string{"deployster"}, o.Where...)
	line = append(append(line, command), args...)
	for i, word := range line {
		line[i] = words.Shell(word)
	}
	return strings.Join(line, " ")
}
