package ssh

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/proc"
	"deployster/internal/runtime/runner"
)

// session is an ssh process as a stream.
type session struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	pipe  *os.File // the source of out
	noise *noise
	keys  *keysFile     // nil = ssh uses its own files
	ended chan struct{} // closed when the process has ended
	once  sync.Once

	heard   int         // bytes that were read before the agent was ready
	printed *runner.Log // those of them that are not of the script
}

func start(a runner.Host, o Options, script string) (*session, error) {
	s := &session{noise: &noise{log: runner.NewLog(8 << 10)}, printed: runner.NewLog(8 << 10), ended: make(chan struct{})}
	keys := ""
	if a.HostKey != "" {
		var err error
		if s.keys, err = writeKeys(knownHosts(a)); err != nil {
			return nil, err
		}
		keys = s.keys.path
	}
	command := o.Command
	if len(command) == 0 {
		command = []string{"ssh"}
	}
	command = append(append([]string(nil), command...), commandOf(a, script, keys)...)
	s.cmd = exec.Command(command[0], command[1:]...)
	s.cmd.Env = proc.WithoutSecrets(os.Environ())
	// An interrupt from the terminal is for this program, which ends the session itself.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.cmd.Stderr = s.noise
	s.cmd.WaitDelay = time.Second
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.pipe, s.out, s.cmd.Stdout = read, bufio.NewReaderSize(read, maxNoise), write
	err = s.cmd.Start()
	_ = write.Close() // the process has it
	if err != nil {
		_ = read.Close()
		return nil, &UnreachableError{fmt.Sprintf("%s cannot be started: %s", command[0], err)}
	}
	go func() {
		_ = s.cmd.Wait() // the stream shows how it ended
		if s.keys != nil {
			s.keys.close()
		}
		close(s.ended)
	}()
	return s, nil
}

// Read and Write exchange bytes with the agent.
func (s *session) Read(p []byte) (int, error)  { return s.out.Read(p) }
func (s *session) Write(p []byte) (int, error) { return s.in.Write(p) }

// Close closes the agent's input, and kills ssh if it does not end in time.
func (s *session) Close() error {
	s.once.Do(func() {
		_ = s.in.Close() // the agent ends then
		go func() {
			select {
			case <-s.ended:
			case <-time.After(leaving):
				s.kill()
				<-s.ended
			}
			_ = s.pipe.Close() // all readers have ended
		}()
	})
	return nil
}

// kill kills ssh and the processes that it has started. An agent whose connection is lost ends too.
func (s *session) kill() {
	select {
	case <-s.ended: // its pid may be reused
	default:
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // it may just have ended
	}
}

// noise keeps the last output of ssh on stderr.
type noise struct {
	mu  sync.Mutex
	log *runner.Log
}

func (n *noise) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.log.Write(p)
}

// failed begins the agent's error message when it cannot serve: the next line has the details.
const failed = "Error: "

// last returns the agent's error message if there is one, and otherwise the last line.
func (n *noise) last() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	lines := strings.Split(string(bytes.TrimSpace(n.log.Bytes())), "\n")
	text := strings.TrimSpace(lines[len(lines)-1])
	for i, line := range lines[:len(lines)-1] {
		if summary, isError := strings.CutPrefix(line, failed); isError {
			text = strings.TrimSpace(summary) + ": " + strings.TrimSpace(lines[i+1])
		}
	}
	return diag.Visible(strings.TrimSuffix(text, "."))
}
