package plugin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
)

// cookie must be in the environment of a provider, which otherwise refuses to run, so
// that nobody starts it by hand.
const cookie = "TF_PLUGIN_MAGIC_COOKIE=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2"

// maxMessage is the maximum length of a message: the schemas of a large provider are long.
const maxMessage = 256 << 20

// startLimit is how long a provider may take to report where it listens.
const startLimit = time.Minute

// Process is a running provider.
type Process struct {
	Protocol int // 5 or 6

	cmd  *exec.Cmd
	conn *grpc.ClientConn
	log  *tail
	gone chan struct{} // closed when the process has ended
}

// Start starts a provider, and waits until it listens.
func Start(ctx context.Context, path string, env []string) (*Process, error) {
	p := &Process{cmd: exec.Command(path), gone: make(chan struct{})}
	p.cmd.Env = append(append(os.Environ(), env...), cookie, "PLUGIN_PROTOCOL_VERSIONS=5,6", "PLUGIN_MIN_PORT=10000",
		"PLUGIN_MAX_PORT=25000")
	if err := os.MkdirAll(os.TempDir(), 0o777); err != nil { // the provider creates its socket there
		return nil, err
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	log, stderr, err := newTail()
	if err != nil {
		return nil, err
	}
	p.log, p.cmd.Stderr = log, stderr
	started := make(chan error, 1)
	go p.live(started)
	err = <-started
	_ = stderr.Close() // the provider has its own copy
	go p.log.read()
	if err != nil {
		if _, there := os.Stat(path); there == nil && errors.Is(err, fs.ErrNotExist) { // its loader does not exist
			err = fmt.Errorf("%w. It needs libraries that the image does not have: build it with CGO_ENABLED=0", err)
		}
		return nil, fmt.Errorf("the provider cannot be started: %w", err)
	}
	line := make(chan string, 1)
	go func() {
		in := bufio.NewReader(stdout)
		first, _ := in.ReadString('\n') // "" if the process has ended
		line <- first
		_, _ = io.Copy(io.Discard, in)
	}()
	select {
	case first := <-line:
		if err := p.connect(first); err != nil {
			p.Stop()
			return nil, err
		}
		return p, nil
	case <-ctx.Done():
		p.Stop()
		return nil, context.Cause(ctx)
	case <-time.After(startLimit):
		p.Stop()
		return nil, fmt.Errorf("the provider did not print its address within %s: %s", startLimit, p.log)
	}
}

// live starts the program and waits for its end, on one thread: Pdeathsig kills the
// process when the thread that has started it ends.
func (p *Process) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // its log reports how it ended
	// The log is not read to its end here: a process that the provider has left may keep it open.
	close(p.gone)
}

// connect connects to the address in the handshake line of a provider.
func (p *Process) connect(line string) error {
	fields := strings.Split(strings.TrimSpace(line), "|")
	if len(fields) < 5 {
		return fmt.Errorf("it is not a provider: it printed %q instead of the handshake: %s", line, p.log)
	}
	version, err := strconv.Atoi(fields[1])
	switch {
	case err != nil || fields[0] != "1" || fields[4] != "grpc":
		return fmt.Errorf("it is not a provider with gRPC: it printed %q", line)
	case version != 5 && version != 6:
		return fmt.Errorf("it uses the plugin protocol %d, and the bridge supports 5 and 6", version)
	}
	p.Protocol = version
	target := "unix:" + fields[3]
	if fields[2] == "tcp" {
		target = "passthrough:///" + fields[3]
	}
	p.conn, err = grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)))
	return err
}

// fives are the names of calls in protocol 5, if they differ from protocol 6.
var fives = map[string]string{
	"GetProviderSchema":          "GetSchema",
	"ValidateProviderConfig":     "PrepareProviderConfig",
	"ValidateResourceConfig":     "ValidateResourceTypeConfig",
	"ValidateDataResourceConfig": "ValidateDataSourceConfig",
	"ConfigureProvider":          "Configure",
	"StopProvider":               "Stop",
}

// Call calls the provider; name is the name of the call in protocol 6.
func (p *Process) Call(ctx context.Context, name string, in, out proto.Message) error {
	service := "/tfplugin6.Provider/"
	if p.Protocol == 5 {
		service = "/tfplugin5.Provider/"
		if five, other := fives[name]; other {
			name = five
		}
	}
	err := p.conn.Invoke(ctx, service+name, in, out)
	if err == nil {
		return nil
	}
	select {
	case <-p.gone:
		return &Died{Call: name, Log: p.log.String()}
	case <-time.After(100 * time.Millisecond): // its end may be noticed a moment later
	}
	select {
	case <-p.gone:
		return &Died{Call: name, Log: p.log.String()}
	default:
		return fmt.Errorf("%s: %w", name, err)
	}
}

// Died reports that a provider ended during a call.
type Died struct {
	Call, Log string
}

func (e *Died) Error() string { return "the provider ended during " + e.Call + ": " + e.Log }

// Pid returns the process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Alive reports whether the process runs.
func (p *Process) Alive() bool {
	select {
	case <-p.gone:
		return false
	default:
		return true
	}
}

// Stop kills the process.
func (p *Process) Stop() {
	if p.conn != nil {
		_ = p.conn.Close() // it is not called any more
	}
	_ = p.cmd.Process.Kill() // it may have ended already
	<-p.gone
}
