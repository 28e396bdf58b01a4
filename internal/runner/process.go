package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Worker is a program that serves many invocations one after the other and at
// the same time, as docs/protocol.md has it. It is the same for all
// invocations of a type that have the same mounts and settings.
type Worker struct {
	Digest     string   // the image, by digest
	Entrypoint string   // replaces the image's Entrypoint and drops its Cmd
	Args       []string // replace the image's Cmd
}

// GroupKey returns what tells invocations that running programs of one kind may carry
// out from all others: those programs, the mounts and the settings.
func (s *Spec) GroupKey(program any) (string, error) {
	key, err := json.Marshal([]any{program, s.Mounts, s.Settings})
	return string(key), err
}

// Launcher starts programs that are spoken to while they run.
type Launcher interface {
	// Launch starts a program, or takes over one that was kept. Of the Spec it takes no Stdin, Stdout, Timeout,
	// MaxStdout and ID. Its Ended is called after the end of Stdout. The Process
	// must be waited for. When whoever launched it dies, its Stdin ends; what is
	// a Query is removed then, and an Action may carry through what it has begun.
	Launch(ctx context.Context, s Spec) (Process, error)
}

// Process is a program that runs.
type Process interface {
	// Stdin is what it reads. To close it is how it is asked to end.
	Stdin() io.WriteCloser

	// Stdout is what it prints. It ends when the program has ended. Who does
	// not read it for long finds the program killed.
	Stdout() io.Reader

	// Asked says that an action is about to be asked of it, with a number that
	// no other has: from now on the action can be adopted by its Spec.ID.
	Asked(request int64, s Spec) error

	// Settled says that the end of an action is on record elsewhere, or that it
	// was not asked of it after all.
	Settled(request int64) error

	// Release says that of its Stdout nothing is needed any more that lies before
	// an offset, because nothing there is about an action that is not settled.
	Release(offset int64)

	// Before is the highest number that a request had of those who used the
	// program before; 0 = nobody did.
	Before() int64

	// Keep hands the program over, if its Spec allows it, to whoever keeps it for
	// the next Launch that wants one like it. Asked is the highest number that a
	// request had. Nothing may be open, and heard is how much of its Stdout
	// was read, in bytes: with more there it is not quiet. It says
	// whether it was handed over: then it cannot be spoken to any more, its Stdout
	// ends, and Wait returns. Else it goes on.
	Keep(asked, heard int64) bool

	// Wait returns when the program has ended and nothing of it is left. The
	// Result has its Stderr, and no Stdout. The error is as that of Runner.Run.
	Wait() (Result, error)

	// Terminate asks it to end with SIGTERM, as a Runner asks what is cancelled. It
	// does not wait for that.
	Terminate()

	// Kill ends it with all that it has started.
	Kill()
}

// LongLineError says that a Process said a line of more than so many bytes.
type LongLineError int

func (most LongLineError) Error() string {
	return fmt.Sprintf("it said a line of more than %d bytes", int(most))
}

// ReadLine reads a line of the Stdout of a Process, with its end: it has at most so many
// bytes, and is good until the next. What stands there without an end was never said.
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

// WorkerError says that a worker ended, or had to be ended, while it carried
// something out: this invocation has ended with it, and what it had done until
// then is not known.
type WorkerError struct {
	Reason string // a sentence without its full stop
}

func (e *WorkerError) Error() string { return e.Reason }
