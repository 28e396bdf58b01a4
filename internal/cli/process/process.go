package process

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// Interrupts begins to listen for signals. The first one ends ctx, the second closes abort, the third
// ends the process with an exit code. hangup removes SIGHUP from them and returns a channel for it.
func Interrupts(exit int) (ctx context.Context, abort chan struct{}, hangup func() <-chan struct{}) {
	signal.Ignore(syscall.SIGPIPE)
	signals, hangups := make(chan os.Signal, 3), make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // ignored with nohup: the user wants the command to continue
		signal.Notify(signals, syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancel(context.Background())
	abort = make(chan struct{})
	go func() {
		<-signals
		cancel()
		<-signals
		close(abort)
		<-signals
		os.Exit(exit)
	}()
	return ctx, abort, func() <-chan struct{} { return takeHangups(signals, hangups) }
}

// Aborted reports whether a second interrupt has arrived.
func Aborted(abort <-chan struct{}) bool {
	select {
	case <-abort:
		return true
	default:
		return false
	}
}

// takeHangups returns a channel that receives each SIGHUP, which is not an interrupt from then on.
func takeHangups(signals, hangups chan os.Signal) <-chan struct{} {
	signal.Notify(hangups, syscall.SIGHUP)
	signal.Stop(signals)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	reload := make(chan struct{})
	go func() {
		for range hangups {
			reload <- struct{}{}
		}
	}()
	return reload
}

// TerminalSize returns the present size of the terminal on stderr, and 80 by 24 if it is
// unknown.
func TerminalSize() (width, height int) {
	width, height, err := term.GetSize(int(os.Stderr.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// Stdout returns the standard output of this process, or a writer that fails if stdout
// was closed when the process began (`>&-`).
func Stdout() io.Writer {
	if wasClosed(int(os.Stdout.Fd())) {
		return closedStdout{}
	}
	return os.Stdout
}

// ErrClosed is the error of a stdout that seems to have been closed when the program
// began. That is not certain, so it counts only for runs that are useless without their
// output.
var ErrClosed = errors.New("it is closed")

// closedStdout fails every write, since nobody would get it.
type closedStdout struct{}

func (closedStdout) Write([]byte) (int, error) { return 0, ErrClosed }
