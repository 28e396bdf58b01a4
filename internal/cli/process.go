package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"deployster/internal/cli/process"
)

// Main runs the command line of this process and returns its exit code. Results go to
// stdout, which is Stdout() except in tests. The first signal stops the command,
// the second one to stop at once, the third ends the process. A reader that closes stdout
// does not end it.
func Main(stdout io.Writer) int {
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(os.Stderr, "Error: The working directory is gone\n  %s. Go to a directory that exists.\n", err)
		return exitError
	}
	home, _ := os.UserHomeDir() // without one there are no auto files of the user
	e := Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: stdout, Stderr: os.Stderr, Environ: os.Environ(),
		Dir: dir, Home: home,
		Interactive: term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())),
		Color:       term.IsTerminal(int(os.Stdout.Fd())),
		ErrColor:    term.IsTerminal(int(os.Stderr.Fd())),
		Size:        process.TerminalSize,
	}
	e.notHere = enter(e)
	var ctx context.Context
	ctx, e.Abort, e.Hangup = process.Interrupts(exitInterrupted)
	return Run(ctx, e)
}
