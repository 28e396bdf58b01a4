package layout

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"deployster/containerd/failure"
	"deployster/internal/base/diag"
	"deployster/internal/base/rootless"
	"deployster/internal/runtime/runner"
)

// ServerName is the argv[0] of the embedded containerd.
const ServerName = "deployster-containerd"

// RuntimeRoot is the parent of run-time directories, unless another one is given.
const RuntimeRoot = "/run/deployster"

// RuntimeDir returns the default run-time directory for a key, which names a data directory or a daemon.
func RuntimeDir(key string) (string, error) {
	name := fmt.Sprintf("%x", sha256.Sum256([]byte(key)))[:12]
	if !rootless.Inside() {
		return filepath.Join(RuntimeRoot, name), nil
	}
	root, err := rootless.RuntimeDir()
	if err != nil {
		return "", ErrRuntimeDir(root, err)
	}
	return filepath.Join(root, name[:8]), nil // the directory above has a longer path
}

// Config is what the client that starts a server passes to it, as flags, so that the
// process list shows what a server is for.
type Config struct {
	DataDir, RuntimeDir, Namespace string
	IdleExit                       time.Duration
}

// OwnerPID returns the process that has the data directory, or had it last; 0 = it never
// had an owner.
func (c Config) OwnerPID() (pid int) {
	b, err := os.ReadFile(c.LockFile())
	if err != nil {
		return 0
	}
	_, _ = fmt.Sscanf(string(b), "process %d", &pid) // pid stays 0 on failure
	return pid
}

func (c Config) Args() []string {
	return []string{ServerName, "-data-dir", c.DataDir, "-runtime-dir", c.RuntimeDir,
		"-namespace", c.Namespace, "-idle-exit", c.IdleExit.String()}
}

func ParseArgs(args []string) (c Config, err error) {
	f := flag.NewFlagSet(ServerName, flag.ContinueOnError)
	f.StringVar(&c.DataDir, "data-dir", "", "")
	f.StringVar(&c.RuntimeDir, "runtime-dir", "", "")
	f.StringVar(&c.Namespace, "namespace", "", "")
	f.DurationVar(&c.IdleExit, "idle-exit", 0, "")
	err = f.Parse(args)
	if err == nil && (c.DataDir == "" || c.RuntimeDir == "" || c.Namespace == "" || c.IdleExit <= 0) {
		err = errors.New("this process is started by deployster itself, with all of its flags")
	}
	return c, err
}

// The paths in the two directories.
func (c Config) Socket() string   { return filepath.Join(c.RuntimeDir, "grpc.sock") }
func (c Config) TTRPC() string    { return filepath.Join(c.RuntimeDir, "ttrpc.sock") }
func (c Config) Shims() string    { return filepath.Join(c.RuntimeDir, "s") }
func (c Config) State() string    { return filepath.Join(c.RuntimeDir, "state") }
func (c Config) Root() string     { return filepath.Join(c.DataDir, "containerd") }
func (c Config) Bin() string      { return filepath.Join(c.DataDir, "bin") }
func (c Config) LockFile() string { return filepath.Join(c.DataDir, "server.lock") }
func (c Config) Outcomes() string { return filepath.Join(c.DataDir, "outcomes") }
func (c Config) LogFile() string  { return filepath.Join(c.DataDir, "server.log") }

// Artifacts and Volumes have files that containers are shown, and are never reached
// through links.
func (c Config) Artifacts() string { return filepath.Join(runner.RealDir(c.DataDir), "artifacts") }
func (c Config) Volumes() string   { return filepath.Join(runner.RealDir(c.DataDir), "volumes") }

// BootReport is what a server reports to its starter, once.
type BootReport struct {
	Ready   bool   `json:"ready"`
	Owner   string `json:"owner,omitempty"` // who has the data directory, if that is the reason
	Failure string `json:"failure,omitempty"`
}

// ReportFD is the file descriptor of a server's pipe to its starter.
const ReportFD = 3

// PoolSocket returns the socket at which the server of a runtime directory takes and returns idle workers.
func (c Config) PoolSocket() string { return filepath.Join(c.RuntimeDir, "keep.sock") }

func ErrDataDir(dir string, cause error) error {
	return diag.Because(cause, "The data directory "+dir+" is not usable",
		"%s. Deployster keeps its images there. Make it a directory that root can write, or choose another with DEPLOYSTER_DATA_DIR.",
		failure.Sentence(cause))
}

func ErrRuntimeDir(dir string, cause error) error {
	return diag.Because(cause, "The run-time directory "+dir+" is not usable",
		"%s. Deployster keeps its sockets and the input and output of what runs there. Make it a directory that you can write.",
		failure.Sentence(cause))
}
