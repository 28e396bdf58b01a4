package onhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"deployster/containerd"
	"deployster/internal/base/diag"
	"deployster/internal/cli/process"
	"deployster/internal/cli/settings"
)

// The exit codes of this program: lost is also that of an agent whose connection was lost.
const (
	done = 0
	lost = 1
)

// usage is what a person reads who starts the program by hand.
const usage = `usage: deployster-host far | guard KEY | prune
  far    serve one client on stdin and stdout: deployster starts it
  guard  undo a group of guarded actions unless it is confirmed: a unit of systemd starts it
  prune  remove the images of this machine that have no name; they are sent again when they are needed
`

// Main runs the program with its arguments, and returns the exit code.
func Main(args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			code = failed(diag.Crash(p, debug.Stack(), "Actions in progress continue, and the next client adopts them."))
		}
	}()
	ctx, _, _ := process.Interrupts(lost)
	var err error
	switch {
	case len(args) == 1 && args[0] == "far":
		err = with(ctx, func(at *containerd.Runtime) error { return Serve(ctx, at, os.Stdin, os.Stdout) })
	case len(args) == 2 && args[0] == "guard":
		err = with(ctx, func(at *containerd.Runtime) error { return Keep(ctx, at, os.Stdout, args[1]) })
	case len(args) == 1 && args[0] == "prune":
		err = with(ctx, func(at *containerd.Runtime) error {
			return errors.Join(Prune(ctx, at.Images.Store, os.Stdout), at.Close())
		})
	default:
		_, _ = io.WriteString(os.Stderr, usage)
		return lost
	}
	if err != nil {
		return failed(err)
	}
	return done
}

// with calls do with the runtime of this machine, which do closes.
func with(ctx context.Context, do func(*containerd.Runtime) error) error {
	env := settings.Lookup(os.Getenv)
	at, err := containerd.Open(ctx, containerd.Options{Address: env("CONTAINERD_ADDRESS"), Namespace: env("CONTAINERD_NAMESPACE"),
		DataDir: env("DEPLOYSTER_DATA_DIR"), IdleExit: env.IdleExit(), Runc: env("DEPLOYSTER_RUNC"),
		AllowOldRunc: env("DEPLOYSTER_ALLOW_OLD_RUNC") == "1", Machines: env.Machines(true), Warn: say})
	if err != nil {
		return err
	}
	return do(at)
}

// failed prints an error, and returns the exit code.
func failed(err error) int {
	for _, d := range diag.From("Error", err) {
		say(d)
	}
	return lost
}

// say prints a diagnostic in the form that the client's end reads.
func say(d *diag.Diagnostic) {
	label := "Error: "
	if d.Severity == diag.Warning {
		label = "Warning: "
	}
	detail := diag.Visible(strings.Join(strings.Split(strings.TrimSpace(d.Detail), "\n"), " "))
	_, _ = fmt.Fprintf(os.Stderr, "%s%s\n  %s\n", label, diag.Visible(d.Summary), detail)
}
