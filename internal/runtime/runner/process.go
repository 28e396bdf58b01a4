package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Worker is a program that serves many invocations, one after the other and
// concurrently, as docs/protocol.md describes. All invocations of a type with the same
// mounts and settings share it.
type Worker struct {
	Digest     string   // the image, by digest
	Entrypoint string   // replaces the image's Entrypoint and drops its Cmd
	Args       []string // replace the image's Cmd
}

// Batch names actions that a worker gets as one request. They have one Worker, one set of mounts
// and settings, and are started concurrently. A member that does not arrive delays the others for a
// limited time, and then runs alone.
type Batch struct {
	ID      string // unique among the batches of all clients
	Members int    // how many actions name it
}

// GroupKey returns a key that is equal for the invocations that the same running
// programs may carry out: those with equal program, mounts and settings.
func (s *Spec) GroupKey(program any) (string, error) {
	key, err := json.Marshal([]any{program, s.Mounts, s.Settings})
	return string(key), err
}

// Launcher starts programs that communicate with deployster while they run.
type Launcher interface {
	// Launch starts a program, or takes over a kept one. It ignores Stdin, Stdout, Timeout, MaxStdout and ID
	// of the Spec, and calls Spec.Ended after the end of Stdout. The caller must call Wait. When the process
	// that launched it is killed, the program's Stdin ends; then a Query is removed, and an Action may finish
	// what it has begun.
	Launch(ctx context.Context, s Spec) (Process, error)
}

// Process is a running program.
type Process interface {
	// Stdin is the program's input. Closing it signals the program to end.
	Stdin() io.WriteCloser

	// Stdout is the program's output. It ends after the program has ended. The program
	// is killed if it has no reader for long.
	Stdout() io.Reader

	// Asked records that an action is about to be requested, with a unique number of
	// the request: from now on the action can be adopted by its Spec.ID.
	Asked(request int64, s Spec) error

	// Settled records that the end of an action is recorded elsewhere, or that the
	// action was not requested after all.
	Settled(request int64) error

	// Release frees the Stdout before an offset: nothing there belongs to an action
	// that is not settled.
	Release(offset int64)

	// Before returns the highest request number of the commands that used the program
	// before; 0 = there were none.
	Before() int64

	// Keep hands the program over, if its Spec allows it, to be kept for the next
	// Launch of such a program. asked is the highest number of a request. No request
	// may be open. heard is how many bytes of its Stdout were read: if it has printed
	// more, it is not idle. Keep reports whether the program was handed over: then this
	// Process can no longer be used, its Stdout ends, and Wait returns. Otherwise the
	// program continues.
	Keep(asked, heard int64) bool

	// Wait waits until the program has ended and its container is removed. The Result
	// has its Stderr, and no Stdout. The error is as in Runner.Run.
	Wait() (Result, error)

	// Terminate sends SIGTERM, as Runner.Run does after a cancellation. It does not
	// wait for the end.
	Terminate()

	// Kill kills the program and all processes that it has started.
	Kill()
}

// LongLineError reports that a Process printed a line of more than that many bytes.
type LongLineError int

func (most LongLineError) Error() string {
	return fmt.Sprintf("it printed a line of more than %d bytes", int(most))
}

// ReadLine reads a line of the Stdout of a Process, with its newline; most is the limit of
// its bytes. The line is valid until the next call. ReadLine drops an incomplete last line.
func ReadLine(in *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > most {
			return nil, LongLineError(most)
		}
		if line == nil && err == nil {
			return part, nil
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// WorkerError reports that a worker ended, or had to be ended, while it carried out an
// invocation. The invocation has ended too, and what it did before is unknown.
type WorkerError struct {
	Reason string // a sentence without its full stop
	Well   bool   // it ended by itself, with exit code 0
}

func (e *WorkerError) Error() string { return e.Reason }
