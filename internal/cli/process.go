package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"deployster/internal/cli/streams"
)

// Main runs the command line of this process and returns its exit code. Results
// go to stdout, which is Stdout() but for tests. The first signal asks the command
// to stop, the second one to stop at once, the third ends the process. A reader of
// stdout who goes away does not.
func Main(stdout io.Writer) int {
	signal.Ignore(syscall.SIGPIPE)
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup: who goes away wants it to go on
		signal.Notify(signals, syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	abort := make(chan struct{})
	go func() {
		<-signals
		cancel()
		<-signals
		close(abort)
		<-signals
		os.Exit(exitInterrupted)
	}()
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(os.Stderr, "Error: The working directory is gone\n  %s. Go to a directory that exists.\n", err)
		return exitError
	}
	home, _ := os.UserHomeDir() // without one there are no auto files of the user
	return Run(ctx, Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: stdout, Stderr: os.Stderr, Environ: os.Environ(),
		Dir: dir, Home: home, Abort: abort,
		Interactive: term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())),
		Color:       term.IsTerminal(int(os.Stdout.Fd())),
		ErrColor:    term.IsTerminal(int(os.Stderr.Fd())),
		Size:        terminalSize,
	})
}

// terminalSize returns the size of the terminal that stderr is, as it is now, and
// 80 by 24 where the terminal does not say.
func terminalSize() (width, height int) {
	width, height, err := term.GetSize(int(os.Stderr.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// Stdout returns the standard output of this process, or a writer that fails if
// it was closed when the process began (`>&-`).
func Stdout() io.Writer {
	if streams.WasClosed(int(os.Stdout.Fd())) {
		return closedStdout{}
	}
	return os.Stdout
}

// closedStdout refuses what nobody would get.
type closedStdout struct{}

func (closedStdout) Write([]byte) (int, error) { return 0, errClosed }
