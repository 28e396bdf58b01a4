package containerd

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/containerd/containerd/v2/cmd/containerd/server"
	srvconfig "github.com/containerd/containerd/v2/cmd/containerd/server/config"
	"github.com/containerd/containerd/v2/version"
	"github.com/containerd/log"
	"golang.org/x/sys/unix"

	// What a run needs of containerd, and no more: each plugin costs time at
	// the start and is one more thing that listens.
	_ "github.com/containerd/containerd/v2/core/runtime/v2"
	_ "github.com/containerd/containerd/v2/plugins/content/local/plugin"
	_ "github.com/containerd/containerd/v2/plugins/diff/walking/plugin"
	_ "github.com/containerd/containerd/v2/plugins/events"
	_ "github.com/containerd/containerd/v2/plugins/gc"
	_ "github.com/containerd/containerd/v2/plugins/leases"
	_ "github.com/containerd/containerd/v2/plugins/metadata"
	_ "github.com/containerd/containerd/v2/plugins/mount"
	_ "github.com/containerd/containerd/v2/plugins/server/grpc"
	_ "github.com/containerd/containerd/v2/plugins/server/ttrpc"
	_ "github.com/containerd/containerd/v2/plugins/services/containers"
	_ "github.com/containerd/containerd/v2/plugins/services/content"
	_ "github.com/containerd/containerd/v2/plugins/services/diff"
	_ "github.com/containerd/containerd/v2/plugins/services/events"
	_ "github.com/containerd/containerd/v2/plugins/services/healthcheck"
	_ "github.com/containerd/containerd/v2/plugins/services/images"
	_ "github.com/containerd/containerd/v2/plugins/services/introspection"
	_ "github.com/containerd/containerd/v2/plugins/services/leases"
	_ "github.com/containerd/containerd/v2/plugins/services/namespaces"
	_ "github.com/containerd/containerd/v2/plugins/services/snapshots"
	_ "github.com/containerd/containerd/v2/plugins/services/tasks"
	_ "github.com/containerd/containerd/v2/plugins/services/version"
	_ "github.com/containerd/containerd/v2/plugins/services/warning"
	_ "github.com/containerd/containerd/v2/plugins/snapshots/native/plugin"
	_ "github.com/containerd/containerd/v2/plugins/snapshots/overlay/plugin"
)

const serverName = "deployster-containerd"

// IsServer reports whether this process was started, by its argv[0], as the
// embedded containerd.
func IsServer(argv0 string) bool { return filepath.Base(argv0) == serverName }

// serverConfig is what the client that starts a server tells it, as flags, so
// that the process list says what a server is for.
type serverConfig struct {
	dataDir, runtimeDir, namespace string
	idleExit                       time.Duration
}

// ownerPid is the process that has the data directory, or had it last; 0 =
// nobody ever had.
func (c serverConfig) ownerPid() (pid int) {
	b, err := os.ReadFile(c.lock())
	if err != nil {
		return 0
	}
	_, _ = fmt.Sscanf(string(b), "process %d", &pid) // it stays 0
	return pid
}

func (c serverConfig) args() []string {
	return []string{serverName, "-data-dir", c.dataDir, "-runtime-dir", c.runtimeDir,
		"-namespace", c.namespace, "-idle-exit", c.idleExit.String()}
}

func parseServerArgs(args []string) (c serverConfig, err error) {
	f := flag.NewFlagSet(serverName, flag.ContinueOnError)
	f.StringVar(&c.dataDir, "data-dir", "", "")
	f.StringVar(&c.runtimeDir, "runtime-dir", "", "")
	f.StringVar(&c.namespace, "namespace", "", "")
	f.DurationVar(&c.idleExit, "idle-exit", 0, "")
	err = f.Parse(args)
	if err == nil && (c.dataDir == "" || c.runtimeDir == "" || c.namespace == "" || c.idleExit <= 0) {
		err = errors.New("this process is started by deployster itself, with all of its flags")
	}
	return c, err
}

// The layout of the two directories.
func (c serverConfig) socket() string     { return filepath.Join(c.runtimeDir, "grpc.sock") }
func (c serverConfig) ttrpc() string      { return filepath.Join(c.runtimeDir, "ttrpc.sock") }
func (c serverConfig) shims() string      { return filepath.Join(c.runtimeDir, "s") }
func (c serverConfig) state() string      { return filepath.Join(c.runtimeDir, "state") }
func (c serverConfig) root() string       { return filepath.Join(c.dataDir, "containerd") }
func (c serverConfig) bin() string        { return filepath.Join(c.dataDir, "bin") }
func (c serverConfig) lock() string       { return filepath.Join(c.dataDir, "server.lock") }
func (c serverConfig) outcomes() outcomes { return outcomes(filepath.Join(c.dataDir, "outcomes")) }
func (c serverConfig) logFile() string    { return filepath.Join(c.dataDir, "server.log") }

// bootReport is what a server writes to its starter, once.
type bootReport struct {
	Ready   bool   `json:"ready"`
	Owner   string `json:"owner,omitempty"` // who has the data directory, when that is the reason
	Failure string `json:"failure,omitempty"`
}

// reportFD is where a server finds the pipe to its starter.
const reportFD = 3

// RunServer is the main function of the embedded containerd; args are the
// process's without argv[0]. It gives the exit code.
func RunServer(args []string) int {
	c, err := parseServerArgs(args)
	if err != nil {
		return 2
	}
	// The starter reads this pipe; nobody else shall keep it open.
	unix.CloseOnExec(reportFD)
	report := os.NewFile(reportFD, "report")
	tell := func(r bootReport) {
		_ = json.NewEncoder(report).Encode(r) // a starter that died needs no answer
		_ = report.Close()
	}
	_ = log.SetLevel("warn")
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM, unix.SIGINT)
	defer stop()
	// Not ignored: the programs in containers would inherit that, some of the time.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGPIPE)

	owned, owner, err := own(ctx, c)
	if err != nil || owner != "" {
		r := bootReport{Owner: owner}
		if err != nil {
			r.Failure = err.Error()
		}
		tell(r)
		return 1
	}
	defer owned.Close()
	before := shims(c)
	s, err := boot(ctx, c)
	if err == nil {
		err = reapShims(ctx, c, before)
	}
	if err != nil {
		log.L.WithError(err).Error("the server could not start")
		tell(bootReport{Failure: err.Error()})
		return 1
	}
	tell(bootReport{Ready: true})
	l := &life{config: c, server: s, owned: owned}
	if err := l.live(ctx); err != nil {
		log.L.WithError(err).Error("the server ended")
		return 1
	}
	return 0
}

// own makes this process the one owner of the data directory, or says who is.
func own(ctx context.Context, c serverConfig) (f *os.File, owner string, err error) {
	if f, err = openLock(c.lock(), os.O_CREATE); err != nil {
		return nil, "", err
	}
	// One that is just ending gets a moment.
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	if waitLock(ctx, f) != nil {
		defer f.Close()
		b, _ := io.ReadAll(io.LimitReader(f, 4096))
		if len(b) == 0 {
			b = []byte("a process that left no name")
		}
		return nil, string(b), nil
	}
	if err = f.Truncate(0); err == nil {
		_, err = fmt.Fprintf(f, "process %d with the runtime directory %s", os.Getpid(), c.runtimeDir)
	}
	if err != nil {
		f.Close()
		return nil, "", err
	}
	return f, "", nil
}

// boot starts containerd inside this process.
func boot(ctx context.Context, c serverConfig) (*server.Server, error) {
	for _, d := range []string{c.bin(), c.shims(), c.state()} {
		if err := os.MkdirAll(d, 0o711); err != nil {
			return nil, err
		}
	}
	if err := installShim(c.bin(), shimProgram()); err != nil {
		return nil, err
	}
	// Shims are found on PATH, and find runc's own needs there.
	if err := os.Setenv("PATH", c.bin()+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
		return nil, err
	}
	for _, s := range []string{c.socket(), c.ttrpc(), c.snapshotterFile()} { // of the server before it
		if err := os.Remove(s); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	cfg := &srvconfig.Config{
		Version: version.ConfigVersion,
		Root:    c.root(),
		State:   c.state(),
		Plugins: map[string]any{
			"io.containerd.server.v1.grpc":  map[string]any{"address": c.socket()},
			"io.containerd.server.v1.ttrpc": map[string]any{"address": c.ttrpc()},
			"io.containerd.shim.v1.manager": map[string]any{"socket_dir": c.shims()},
		},
		RequiredPlugins: []string{"io.containerd.grpc.v1.tasks", "io.containerd.grpc.v1.images"},
	}
	if err := server.CreateTopLevelDirectories(cfg); err != nil {
		return nil, err
	}
	s, err := server.New(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := s.Start(ctx); err != nil {
		return nil, err
	}
	s.Wait()
	return s, nil
}
