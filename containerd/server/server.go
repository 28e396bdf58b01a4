package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/containerd/containerd/v2/cmd/containerd/server"
	srvconfig "github.com/containerd/containerd/v2/cmd/containerd/server/config"
	"github.com/containerd/containerd/v2/version"
	"github.com/containerd/log"
	"golang.org/x/sys/unix"

	"deployster/containerd/layout"
	"deployster/containerd/shim"
	"deployster/containerd/sweep"
	"deployster/internal/base/programs"
)

// Is reports whether this process was started, by its argv[0], as the
// embedded containerd.
func Is(argv0 string) bool { return filepath.Base(argv0) == layout.ServerName }

// Run is the main function of the embedded containerd; args are the process's arguments
// without argv[0]. It returns the exit code.
func Run(args []string) int {
	c, err := layout.ParseArgs(args)
	if err != nil {
		return 2
	}
	// The starter reads this pipe; no other process may keep it open.
	unix.CloseOnExec(layout.ReportFD)
	report := os.NewFile(layout.ReportFD, "report")
	tell := func(r layout.BootReport) {
		_ = json.NewEncoder(report).Encode(r) // a starter that was killed needs no answer
		_ = report.Close()
	}
	_ = log.SetLevel("warn")
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM, unix.SIGINT)
	defer stop()
	// Not ignored: the programs in containers would inherit that in some cases.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGPIPE)

	owned, owner, err := own(ctx, c)
	if err != nil || owner != "" {
		r := layout.BootReport{Owner: owner}
		if err != nil {
			r.Failure = err.Error()
		}
		tell(r)
		return 1
	}
	defer owned.Close()
	s, err := boot(ctx, c)
	if err != nil {
		log.L.WithError(err).Error("the server could not start")
		tell(layout.BootReport{Failure: err.Error()})
		return 1
	}
	tell(layout.BootReport{Ready: true})
	l := &instance{config: c, server: s, dataLock: owned}
	if err := l.serve(ctx); err != nil {
		log.L.WithError(err).Error("the server ended")
		return 1
	}
	return 0
}

// own makes this process the only owner of the data directory, or returns the present owner.
func own(ctx context.Context, c layout.Config) (f *os.File, owner string, err error) {
	if f, err = layout.OpenLock(c.LockFile(), os.O_CREATE); err != nil {
		return nil, "", err
	}
	// An owner that is just ending gets a moment.
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	if layout.WaitLock(ctx, f) != nil {
		defer f.Close()
		b, _ := io.ReadAll(io.LimitReader(f, 4096))
		if len(b) == 0 {
			b = []byte("an unknown process")
		}
		return nil, string(b), nil
	}
	if err = f.Truncate(0); err == nil {
		_, err = fmt.Fprintf(f, "process %d with the runtime directory %s", os.Getpid(), c.RuntimeDir)
	}
	if err != nil {
		f.Close()
		return nil, "", err
	}
	return f, "", nil
}

// removeHalfGone removes what the previous server had not finished removing: containerd
// renames a task's directories to names with a leading dot, and never reads those again.
func removeHalfGone(c layout.Config) error {
	var errs []error
	for _, dir := range []string{c.State(), c.Root()} {
		gone, _ := filepath.Glob(filepath.Join(dir, "io.containerd.runtime.v2.task", "*", ".*")) // the pattern is valid
		for _, path := range gone {
			err := sweep.UnmountBelow(path)
			if err == nil {
				err = os.RemoveAll(path)
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// boot starts containerd inside this process.
func boot(ctx context.Context, c layout.Config) (*server.Server, error) {
	for _, d := range []string{c.Bin(), c.Shims(), c.State()} {
		if err := os.MkdirAll(d, 0o711); err != nil {
			return nil, err
		}
	}
	if err := removeHalfGone(c); err != nil {
		return nil, err
	}
	// Not a link: a shim starts itself again through os.Executable, which resolves links.
	// Also, a copy stays the same when the original is replaced while the server runs.
	if err := layout.InstallProgram(filepath.Join(c.Bin(), shim.Name), shimProgram()); err != nil {
		return nil, err
	}
	// Shims are found on PATH, and search there for the programs that runc needs.
	if err := os.Setenv("PATH", c.Bin()+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
		return nil, err
	}
	for _, s := range []string{c.Socket(), c.TTRPC()} { // of the previous server
		if err := os.Remove(s); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	cfg := &srvconfig.Config{
		Version: version.ConfigVersion,
		Root:    c.Root(),
		State:   c.State(),
		Plugins: map[string]any{
			"io.containerd.server.v1.grpc":  map[string]any{"address": c.Socket()},
			"io.containerd.server.v1.ttrpc": map[string]any{"address": c.TTRPC()},
			"io.containerd.shim.v1.manager": map[string]any{"socket_dir": c.Shims()},
			// Garbage is searched for once a second, where containerd would do that four times.
			"io.containerd.gc.v1.scheduler": map[string]any{"pause_threshold": 0.005},
		},
		RequiredPlugins: []string{"io.containerd.grpc.v1.tasks", "io.containerd.grpc.v1.images"},
	}
	if err := tryOverlay(c.DataDir); err != nil {
		log.L.WithError(err).Warn("overlayfs does not work in the data directory: each container gets a copy of its image's files")
		cfg.DisabledPlugins = []string{overlayPlugin}
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

// ShimProgram is the name of the program that is only the shim.
const ShimProgram = "deployster-shim"

// lightShim returns the path of the shim-only program, or "" if it does not have the same
// Layout.
func lightShim(path string) string {
	if path == "" || !layout.Exists(path) {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, shim.LayoutFlag)
	cmd.Env = []string{} // it reads none
	said, err := cmd.Output()
	if err != nil || string(said) != shim.Layout+"\n" {
		return ""
	}
	return path
}

// shimProgram returns the program to use for shims: the light one that is installed with
// this executable, or else this executable.
func shimProgram() string {
	if light := lightShim(programs.Find(ShimProgram)); light != "" {
		return light
	}
	return "/proc/self/exe"
}
