package child

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/loglines"
	"deployster/internal/base/proc"
	"deployster/internal/base/rootless"
	"deployster/internal/runtime/runner"
)

// leaving is how long a program may take to end after its input is closed.
const leaving = 5 * time.Second

// Options declare how a program runs.
type Options struct {
	Buffer     int           // of its output, in bytes: the longest line that ReadSlice returns
	NoTerminal bool          // neither it nor what it starts can prompt at the terminal of this command
	Ended      func()        // called when it has ended; nil = no callback
	Leaving    time.Duration // how long it may take to end after its input is closed; 0 = 5 s
	Leave      time.Duration // how long Leave waits for that; 0 = not at all
	NoteOf     string        // the beginning of a line of its stderr that is a note
	Note       func(string)  // called with each note; nil = no callback
}

// Process is a program as a stream: Read returns its output, and Write fills its input.
type Process struct {
	*bufio.Reader // its output
	cmd           *exec.Cmd
	in            io.WriteCloser
	pipe          *os.File // the source of the Reader
	errors        *printed
	ended         chan struct{} // closed when the process has ended
	once          sync.Once
	leaving       time.Duration
	leave         time.Duration
}

// Start starts a program, with the environment of this command without its secrets.
func Start(args []string, o Options) (*Process, error) {
	p := &Process{errors: newPrinted(o), ended: make(chan struct{}),
		leaving: cmp.Or(o.Leaving, leaving), leave: o.Leave}
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.Env = proc.WithoutSecrets(os.Environ())
	// An interrupt from the terminal is for this command, which ends the program itself.
	p.cmd.SysProcAttr = rootless.AsUser(&syscall.SysProcAttr{Setpgid: !o.NoTerminal, Setsid: o.NoTerminal})
	p.cmd.Stderr = p.errors
	p.cmd.WaitDelay = time.Second
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.pipe, p.Reader, p.cmd.Stdout = read, bufio.NewReaderSize(read, o.Buffer), write
	err = p.cmd.Start()
	_ = write.Close() // the process has it
	if err != nil {
		_ = read.Close()
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // the stream shows how it ended
		if o.Ended != nil {
			o.Ended()
		}
		close(p.ended)
	}()
	return p, nil
}

// Write implements io.Writer.
func (p *Process) Write(b []byte) (int, error) { return p.in.Write(b) }

// Close closes the program's input, and kills the program if it does not end in time.
func (p *Process) Close() error {
	p.once.Do(func() {
		_ = p.in.Close() // it ends then
		go func() {
			select {
			case <-p.ended:
			case <-time.After(p.leaving):
				p.Kill()
				<-p.ended
			}
			_ = p.pipe.Close() // all readers have ended
		}()
	})
	return nil
}

// Kill kills the program and the processes that it has started.
func (p *Process) Kill() {
	select {
	case <-p.ended: // its pid may be reused
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may just have ended
	}
}

// Wait waits until the program has ended.
func (p *Process) Wait() { <-p.ended }

// Leave waits for the end of a program whose input was closed, as long as the Options allow.
func (p *Process) Leave() {
	if p.leave > 0 {
		select {
		case <-p.ended:
		case <-time.After(p.leave):
		}
	}
}

// LastError returns the error message of a deployster that the program runs, if it printed one, and
// otherwise the last line of its stderr.
func (p *Process) LastError() string { return p.errors.last() }

// printed keeps the last output of a program on stderr.
type printed struct {
	mu     sync.Mutex
	log    *runner.Log
	noteOf string           // the beginning of lines that are notes; "" = there are none
	notes  *loglines.Writer // reads the notes; nil = nobody gets them
}

func newPrinted(o Options) *printed {
	n := &printed{log: runner.NewLog(8 << 10), noteOf: o.NoteOf}
	if o.Note != nil {
		n.notes = loglines.New(func(line string) {
			if text, is := strings.CutPrefix(line, o.NoteOf); is {
				o.Note(text)
			}
		})
	}
	return n
}

func (n *printed) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.notes != nil {
		_, _ = n.notes.Write(p) // never fails
	}
	return n.log.Write(p)
}

// failed begins the error message of deployster: the next line has the details.
const failed = "Error: "

func (n *printed) last() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	lines := strings.Split(string(bytes.TrimSpace(n.log.Bytes())), "\n")
	if n.noteOf != "" { // a note is not why the program has ended
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, n.noteOf) })
	}
	if len(lines) == 0 {
		return ""
	}
	text := strings.TrimSpace(lines[len(lines)-1])
	for i, line := range lines[:len(lines)-1] {
		if summary, isError := strings.CutPrefix(line, failed); isError {
			text = strings.TrimSpace(summary) + ": " + strings.TrimSpace(lines[i+1])
		}
	}
	return diag.Visible(strings.TrimSuffix(text, "."))
}
