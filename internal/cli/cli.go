package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"

	"deployster/internal/cli/commandline"

	"github.com/charmbracelet/colorprofile"
	"github.com/urfave/cli/v2"

	"deployster/apply"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/version"
	"deployster/internal/cli/manual"
	"deployster/internal/cli/process"
	"deployster/internal/cli/standalone"
)

// The exit codes, on which scripts of users depend.
const (
	exitDone        = 0
	exitError       = 1
	exitChanges     = 2
	exitDrift       = 3
	exitOpen        = 3 // migrate: something is left to a person
	exitInterrupted = 130
)

// Env is all that a run of deployster takes from its process.
type Env struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string
	Dir            string // absolute: the working directory
	Home           string
	Interactive    bool                       // a person can be prompted: stdin and stderr are a terminal
	Color          bool                       // stdout is a terminal
	ErrColor       bool                       // stderr is a terminal
	Size           func() (width, height int) // of the terminal on stderr, in cells; nil = stderr is not a terminal
	Abort          <-chan struct{}            // closed at the second interrupt; the first cancels the context
	Hangup         func() <-chan struct{}     // takes over SIGHUP, which otherwise is an interrupt; nil = there are no signals

	notHere error            // why this user can run no containers here; nil = it is possible, or was not tried
	line    commandline.Line // the parsed Args; Run sets it
	run     *runContext      // of this run; Run sets it
}

// exitStatus ends a command with an exit code and no further message.
type exitStatus int

func (e exitStatus) Error() string { return "" }

// ended ends a command with the status of an apply, which has reported all.
type ended apply.Status

func (e ended) Error() string { return "" }

// Run runs one command line and returns the exit code.
func Run(ctx context.Context, e Env) (code int) {
	var err error
	defer func() {
		if p := recover(); p != nil {
			code = conclude(e, faulty(p))
		}
	}()
	result := &process.Output{To: e.Stdout}
	e.Stdout = result
	app := newApp(e)
	e.line = e.parse(app)
	e.run, err = newRunContext(e, e.line)
	if e.run.json {
		e.Interactive, e.Color, e.ErrColor = false, false, false
	}
	if err == nil {
		err = execute(ctx, e)
	}
	return e.run.finish(e, delivered(result, e, conclude(e, err)))
}

// execute runs the command of the command line. It returns a panic as an error, so that
// all outputs of the run end as they should.
func execute(ctx context.Context, e Env) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = faulty(p)
		}
	}()
	app := newApp(e)
	page := manual.Of(app).Find(e.line.Path)
	incomplete := len(page.Commands) > 0 && len(page.Path) == len(e.line.Path)
	if first := standalone.FirstSteps(e.Dir); len(e.Args) == 0 && first != "" {
		_, err := io.WriteString(e.Stdout, first)
		return err
	}
	if e.line.Help() || e.line.Err == nil && incomplete {
		_, err := io.WriteString(e.Stdout, page.Text())
		return err
	}
	if e.line.Err != nil {
		return e.line.Err
	}
	return app.RunContext(ctx, append([]string{app.Name}, e.line.Args()...))
}

// faulty returns the error for a panic; the function that recovers from it calls faulty.
func faulty(panicked any) error {
	return diag.Crash(panicked, debug.Stack(),
		"If it was an apply, its record is next to the state file, and the next command merges it.")
}

// conclude prints an error. It is the one place that chooses exit codes.
func conclude(e Env, err error) int {
	var status exitStatus
	var end ended
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &end):
		e.run.status = apply.Status(end)
		return e.run.status.ExitCode()
	}
	interrupted := errors.Is(err, context.Canceled)
	if interrupted {
		err = diag.Errorf("Interrupted", "Nothing was changed.")
	}
	e.run.diagnostics(e, diag.From("Error", err)...)
	if interrupted {
		return exitInterrupted
	}
	return exitError
}

// newApp returns the description of the command line.
func newApp(e Env) *cli.App {
	app := &cli.App{
		Name:            "deployster",
		Usage:           "plan and apply with container images as resource types",
		Version:         version.Version,
		HideVersion:     true,
		HideHelpCommand: true,
		HideHelp:        true,
		Reader:          e.Stdin,
		Writer:          e.Stdout,
		ErrWriter:       e.Stderr,
		ExitErrHandler:  func(*cli.Context, error) {},
		OnUsageError:    usageError,
		Flags:           globalFlags(),
		Commands: []*cli.Command{
			initCommand(e), planCommand(e), applyCommand(e), destroyCommand(e), rollbackCommand(e), driftCommand(e), watchCommand(e),
			showCommand(e),
			signCommand(e), outputCommand(e),
			validateCommand(e), casesCommand(e), formatCommand(e), lspCommand(e), graphCommand(e), consoleCommand(e),
			stateCommand(e), resolveCommand(e), operationCommand(e), typeCommand(e), policyCommand(e), imageCommand(e),
			moduleCommand(e),
			artifactCommand(e), runsCommand(e), hostCommand(e),
			newCommand(e), migrateCommand(e), versionCommand(e), completionCommand(e), completeCommand(e), manCommand(e),
		},
	}
	for _, command := range app.Commands {
		for _, c := range append(command.Subcommands, command) {
			c.OnUsageError, c.HideHelpCommand, c.HideHelp = usageError, true, true
		}
	}
	return app
}

// usageError returns the error for a mistake on the command line.
func usageError(c *cli.Context, err error, _ bool) error {
	name := "deployster"
	if c.Command != nil && c.Command.Name != "" {
		name = c.Command.HelpName
	}
	return diag.Errorf("Invalid flag value", "%s.%s `%s -help` lists all.", err, takes(c, err), name)
}

// ofFlag finds the flag in an error of the library about its value.
var ofFlag = regexp.MustCompile(`^invalid (?:boolean )?value ".*" for (?:flag )?-([a-z-]+): `)

// takes describes the valid values of the flag that an error of the library names; ""
// where the flag or its kind is unknown.
func takes(c *cli.Context, err error) string {
	found := ofFlag.FindStringSubmatch(err.Error())
	if found == nil {
		return ""
	}
	flags := c.App.Flags
	if c.Command != nil {
		flags = slices.Concat(c.Command.Flags, flags)
	}
	for _, f := range flags {
		if !slices.Contains(f.Names(), found[1]) {
			continue
		}
		switch f.(type) {
		case *cli.DurationFlag:
			return fmt.Sprintf(" It takes a number with its unit: -%s=5s, or 2m.", found[1])
		case *cli.IntFlag:
			return fmt.Sprintf(" It takes a whole number: -%s=4.", found[1])
		case *cli.BoolFlag:
			return fmt.Sprintf(" It is on as -%s, and off as -%s=false.", found[1], found[1])
		}
	}
	return ""
}

// wantsColor reports whether colours are allowed: not with -no-color, NO_COLOR or
// TERM=dumb.
func (e Env) wantsColor() bool {
	return e.get("NO_COLOR") == "" && colorprofile.Env(e.Environ) >= colorprofile.ANSI && !e.line.Bool("no-color")
}

// liveSize returns the size of a terminal on which a display can be redrawn; nil = there
// is none.
func (e Env) liveSize() func() (width, height int) {
	if !e.ErrColor || e.Size == nil || e.get("TERM") == "" || e.get("TERM") == "dumb" {
		return nil
	}
	return e.Size
}

// parse parses the command line.
func (e Env) parse(app *cli.App) commandline.Line {
	return commandline.Read(app, e.Args, eventFlags()).WithStanding(app, e.get).InDirectory(e.path)
}

// get returns the value of an environment variable.
func (e Env) get(name string) string { return workspace.Options{Environ: e.Environ}.Env(name) }

// path makes a path of the user absolute, relative to the directory before -chdir.
func (e Env) path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(e.Dir, p)
}
