package reach

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/base/diag"
	"deployster/internal/base/proc"
	"deployster/internal/far"
	"deployster/internal/runner"
)

// The lines that the script and the far end print before the far end speaks in messages.
const (
	sayHave  = "DEPLOYSTER-HAVE"
	sayNeed  = "DEPLOYSTER-NEED "
	Ready    = "DEPLOYSTER-READY" // the far end's first line; after it come messages
	sayWrong = "DEPLOYSTER-WRONG "
)

// The limits of the exchange before the far end speaks.
const (
	greeting   = 30 * time.Second // until the host prints the next of these lines
	installing = 10 * time.Minute
	maxNoise   = 64 << 10 // bytes that the host may print before Ready, as login profiles do
	leaving    = 5 * time.Second
)

// script installs the program if it is missing, removes programs that were not used for
// 30 days, and executes the installed program. It has no single quotes. Its parameters
// are the choice of the bundle's checksum and the data directory.
const script = `umask 077; %s; D=%s/far/$S; T=$D.$$
install() {
mkdir -p $T && head -c $1 >$T/bundle && echo "$S  $T/bundle" | sha256sum -c - >&2 &&
gzip -dc <$T/bundle | tar -xf - -C $T && rm $T/bundle && { mv -T $T $D || { rm -rf $T; [ -x $D/deployster ]; }; }
}
if [ -x $D/deployster ]; then echo ` + sayHave + `; else
echo "` + sayNeed + `$(uname -s)/$(uname -m)"; read -r n || exit 1
M=$(mkdir -p %s/far 2>&1) || { echo "` + sayWrong + `$M"; exit 1; }
W=$(install $n 2>&1) || { rm -rf $T; echo "` + sayWrong + `$(echo "$W" | tail -n 1)"; exit 1; }
fi; touch $D; find %s/far -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} + 2>/dev/null
DEPLOYSTER_DATA_DIR=%s exec $D/deployster far`

// InUse marks an installed program as in use, at intervals, until ctx ends. The script of
// another version does not remove the program's directory then.
func InUse(ctx context.Context, program string, every time.Duration) {
	dir := filepath.Dir(program)
	if filepath.Base(filepath.Dir(dir)) != "far" {
		return // the script did not install this program
	}
	for ctx.Err() == nil {
		now := time.Now()
		_ = os.Chtimes(dir, now, now) // a failure is repaired by the next try
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
}

// UnreachableError says that a host could not be reached, or could not be made ready.
// No action was begun there.
type UnreachableError struct{ Reason string }

func (e *UnreachableError) Error() string { return e.Reason }

// Options say how to reach hosts.
type Options struct {
	Command []string // replaces ssh; nil = ssh
	Bundle  func(context.Context) (Bundle, error)
	Arch    string // of the bundle, as uname -m prints it
	Beside  string // the directory with bundles for other architectures; "" = there are none
	Timing  far.Timing
}

// Dial connects to a host, installs the program if it is missing, and returns a client
// of the far end. The caller must close the client. The error is an *UnreachableError,
// a *far.RefusedError, or the context's.
func Dial(ctx context.Context, a runner.Host, h far.Hello, o Options) (*far.Client, error) {
	bundles, err := besides(o.Beside)
	if err == nil {
		bundles[o.Arch], err = o.Bundle(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("the program cannot be put together for a host: %w", err)
	}
	s, err := start(a, o, fmt.Sprintf(script, choice(bundles, o.Arch), a.Data(), a.Data(), a.Data(), a.Data()))
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { s.kill() })
	err = s.begin(bundles, o.Arch)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		s.kill()
		<-s.ended
		return nil, s.explain(ctx, err)
	}
	client, err := far.NewClient(ctx, s, h, o.Timing)
	if err != nil {
		s.kill()
		<-s.ended
		if diag.Is[*far.LostError](err) {
			return nil, s.explain(ctx, err)
		}
	}
	return client, err
}

// session is an ssh process as a stream.
type session struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	pipe  *os.File // the source of out
	noise *noise
	keys  *os.File      // the known_hosts file, in memory; nil = ssh uses its own files
	ended chan struct{} // closed when the process has ended
	once  sync.Once
}

func start(a runner.Host, o Options, script string) (*session, error) {
	s := &session{noise: &noise{log: runner.NewLog(8 << 10)}, ended: make(chan struct{})}
	keys := ""
	if a.HostKey != "" {
		var err error
		if s.keys, err = inMemory(knownHosts(a)); err != nil {
			return nil, err
		}
		keys = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), s.keys.Fd())
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
			_ = s.keys.Close() // it was only read
		}
		close(s.ended)
	}()
	return s, nil
}

// inMemory returns a file in memory only, which disappears when this process ends.
func inMemory(text string) (*os.File, error) {
	fd, err := unix.MemfdCreate("known_hosts", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("cannot keep the key of a host in memory: %w", err)
	}
	file := os.NewFile(uintptr(fd), "known_hosts")
	if _, err := file.WriteString(text); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// begin sends the program if the host lacks it, and waits until the far end is ready.
func (s *session) begin(bundles map[string]Bundle, own string) error {
	limit := time.AfterFunc(greeting, s.kill)
	defer limit.Stop()
	for noise := 0; ; {
		read, err := s.out.ReadSlice('\n') // the buffer holds at most maxNoise
		if noise += len(read); noise > maxNoise || errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("it prints more than %d bytes and is not deployster", maxNoise)
		}
		if err != nil {
			return err
		}
		line := strings.TrimRight(string(read), "\r\n")
		switch {
		case line == Ready:
			return nil
		case line == sayHave:
			limit.Reset(greeting)
		case strings.HasPrefix(line, sayNeed):
			platform := strings.TrimPrefix(line, sayNeed)
			b, found := bundles[strings.TrimPrefix(platform, "Linux/")]
			if !found {
				return wrongPlatform(platform, own)
			}
			limit.Reset(installing)
			if err := s.send(b); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, os.ErrClosed) {
				return err // for the other errors the host prints why
			}
		case strings.HasPrefix(line, sayWrong):
			return fmt.Errorf("deployster cannot be installed there: %s", diag.Visible(strings.TrimPrefix(line, sayWrong)))
		}
	}
}

// wrongPlatform returns the error for a host without a bundle, with the name of the file that would have it.
func wrongPlatform(platform, own string) error {
	text := fmt.Sprintf("it is %s, and this deployster is for Linux/%s", diag.Visible(platform), own)
	for arch, machine := range machines {
		if platform == "Linux/"+machine {
			text += fmt.Sprintf(": there is no %s beside it", besideName(arch))
		}
	}
	return errors.New(text)
}

// send sends the bundle to the script.
func (s *session) send(b Bundle) error {
	file, err := os.Open(b.Path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	if _, err := fmt.Fprintf(s.in, "%d\n", b.Size); err != nil {
		return err
	}
	_, err = io.Copy(s.in, file)
	return err
}

// explain returns why a host was not reached, with the last message of ssh.
func (s *session) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	reason := s.noise.last()
	if reason == "" || !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
		text := err.Error()
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
			text = fmt.Sprintf("the connection ended, and it said nothing of deployster; %s are waited for that", greeting)
		}
		if reason != "" {
			text += "; " + reason
		}
		reason = text
	}
	return &UnreachableError{reason}
}

// Read and Write exchange bytes with the far end.
func (s *session) Read(p []byte) (int, error)  { return s.out.Read(p) }
func (s *session) Write(p []byte) (int, error) { return s.in.Write(p) }

// Close closes the far end's input, and kills ssh if it does not end in time.
func (s *session) Close() error {
	s.once.Do(func() {
		_ = s.in.Close() // the far end ends then
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

// kill kills ssh and the processes that it has started. A far end whose connection is lost ends too.
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

// failed begins the far end's error message when it cannot serve: the next line has the details.
const failed = "Error: "

// last returns the far end's error message if there is one, and otherwise the last line.
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
