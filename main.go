// Command deployster plans and applies with container images as resource
// types. The same binary also serves as the embedded containerd and as its
// shim, by the name that it is called with.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/term"

	"deployster/containerd"
	"deployster/containerd/shim"
	"deployster/internal/cli"
	"deployster/internal/heap"
)

func main() {
	switch {
	case shim.Is(os.Args[0]):
		heap.Usual()
		shim.Run()
	case containerd.IsServer(os.Args[0]):
		heap.Usual()
		os.Exit(containerd.RunServer(os.Args[1:]))
	default:
		pace := heap.Postpone(spare(os.Args[1:]))
		os.Exit(run(output(os.Stdout), pace.Expect))
	}
}

// spare is how much memory a command may take beyond what it needs, in bytes.
func spare(args []string) uint64 {
	if slices.Contains(args, "apply") || slices.Contains(args, "destroy") {
		return heap.Spare()
	}
	return 0
}

// run turns signals into what the command line understands: the first one asks
// to stop, the second one to stop at once, the third ends the process. A reader
// of stdout who goes away does not.
func run(stdout io.Writer, expect func(bytes int)) int {
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
		os.Exit(130)
	}()
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(os.Stderr, "Error: The working directory is gone\n  %s. Go to a directory that exists.\n", err)
		return 1
	}
	home, _ := os.UserHomeDir() // without one there are no auto files of the user
	return cli.Run(ctx, cli.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: stdout, Stderr: os.Stderr, Environ: os.Environ(),
		Dir: dir, Home: home, Abort: abort, Expect: expect,
		Interactive: term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())),
		Color:       term.IsTerminal(int(os.Stdout.Fd())),
		ErrColor:    term.IsTerminal(int(os.Stderr.Fd())),
		Size:        terminalSize,
	})
}

// terminalSize is the size of the terminal that stderr is, as it is now; where
// it does not say, that of an old one.
func terminalSize() (width, height int) {
	width, height, err := term.GetSize(int(os.Stderr.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}
