package containerd

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/containerd/containerd/v2/core/mount"
	"golang.org/x/sys/unix"

	"deployster/containerd/daemon"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/runnertest"
)

// ownDaemon starts a private instance of the system's containerd, which is of
// another version than the embedded one, and gives the options for it.
func ownDaemon(t testing.TB) Options {
	t.Helper()
	o, _ := restartableDaemon(t)
	return o
}

// restartableDaemon is a daemon with what kills it and starts it again.
func restartableDaemon(t testing.TB) (o Options, restart func()) {
	t.Helper()
	o, kill, start := mortalDaemon(t)
	return o, func() { kill(); start() }
}

// mortalDaemon is a daemon with what kills it and what starts it again.
func mortalDaemon(t testing.TB) (o Options, kill, start func()) {
	t.Helper()
	needRoot(t)
	const program = "/usr/bin/containerd"
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("these tests start a private instance of Debian's package containerd: %v", err)
	}
	// Short, because of its sockets.
	dir, err := os.MkdirTemp("", "ctd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	stop := startDaemon(t, program, dir)
	t.Cleanup(func() {
		// It is the daemon that ends a shim, a moment after its container is gone: one
		// that it was about to end would stay for ever. Debian's forgets one in ten that
		// is killed while it is deleted: the embedded one must not, and its tests say so.
		shims := func() []int { return pidsWith("containerd-shim", dir) }
		for end := time.Now().Add(time.Minute); len(shims()) > 0 && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
		for _, pid := range shims() {
			t.Logf("the daemon has forgotten a shim, process %d", pid)
			_ = unix.Kill(pid, unix.SIGKILL) // it may have ended by now
		}
		stop(syscall.SIGTERM)
		// A shim says that it ends before it does: on a busy machine the one of the
		// last container is still there for a moment.
		start := time.Now()
		eventually(t, "the last shim ends", func() bool { return len(processesWith(dir)) == 0 })
		for _, p := range processesWith(dir) {
			t.Errorf("a process is left: %s", p)
		}
		if took := time.Since(start); took > 100*time.Millisecond {
			t.Logf("the last shim needed %s", took)
		}
		if err := mount.UnmountRecursive(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return Options{Address: filepath.Join(dir, "c.sock"), RuntimeDir: filepath.Join(dir, "run"), DataDir: filepath.Join(dir, "data")},
		func() { stop(syscall.SIGKILL) }, func() { stop = startDaemon(t, program, dir) }
}

// startDaemon starts a daemon in a directory, and gives what ends it by a
// signal.
func startDaemon(t testing.TB, program, dir string) (stop func(syscall.Signal)) {
	t.Helper()
	config, socket := filepath.Join(dir, "config.toml"), filepath.Join(dir, "c.sock")
	text := "version = 2\nroot = \"" + dir + "/root\"\nstate = \"" + dir + "/state\"\n" +
		"disabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n[grpc]\naddress = \"" + socket + "\"\n[ttrpc]\naddress = \"" + dir + "/t.sock\"\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--config", config)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the daemon listens", func() bool {
		c, err := net.Dial("unix", socket)
		if err != nil {
			return false
		}
		c.Close()
		return true
	})
	var once sync.Once
	return func(s syscall.Signal) {
		once.Do(func() {
			if t.Failed() {
				t.Logf("the daemon's log:\n%s", daemon.LastLines(log.Name(), 20))
			}
			if err := cmd.Process.Signal(s); err != nil {
				t.Error(err)
			}
			_ = cmd.Wait() // it ends by the signal
			log.Close()
		})
	}
}

func TestDaemon_KeepsTheContract(t *testing.T) {
	t.Parallel()
	o := ownDaemon(t)
	var mu sync.Mutex
	var warnings []string
	o.Warn = func(d *diag.Diagnostic) {
		mu.Lock()
		defer mu.Unlock()
		warnings = append(warnings, d.Error())
	}
	r := open(t, o)
	packProbe(t, r)
	t.Run("suite", func(t *testing.T) { runnertest.Suite(t, r) })
	t.Run("volumes", func(t *testing.T) { runnertest.VolumeSuite(t, r) })
	t.Run("sharing", func(t *testing.T) { runnertest.Suite(t, sharing{r}) })
	if containers, queries := sharedCounts(r); containers == 0 || queries <= containers {
		t.Errorf("%d containers have carried out %d queries: nothing was shared", containers, queries)
	}
	if err := r.closeIdle(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, r)

	// The runc on its PATH is the daemon's, and may be an old one.
	path, err := exec.LookPath("runc")
	if err != nil {
		t.Fatal(err)
	}
	version, safe, err := daemon.AskRunc(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if told := len(warnings) == 1 && strings.Contains(warnings[0], path) && strings.Contains(warnings[0], version); told == safe {
		t.Errorf("the daemon's runc is %s (safe: %v), and the warnings are %q", version, safe, warnings)
	}
}

// A daemon that is updated comes back, and its containers live on meanwhile:
// the true end of the program is what counts.
// TestDaemon_WithoutUserNamespaces asks Debian's containerd, which is too old for
// them: nothing is run with less than was asked for.
func TestDaemon_WithoutUserNamespaces(t *testing.T) {
	t.Parallel()
	r := open(t, ownDaemon(t))
	dgst := pack(t, r, imagestore.PackOptions{Entrypoint: []string{"/bin/true"}}, nil)
	_, err := r.Run(context.Background(), runner.Spec{Kind: runner.Query, Digest: dgst, Settings: runner.Settings{UserNS: runner.AutoUserNS}})
	if !isDiagnostic(err) || !strings.Contains(err.Error(), "containerd 2.0") {
		t.Errorf("got %v", err)
	}
}

func TestDaemon_RestartIsNotAnEnd(t *testing.T) {
	t.Parallel()
	o, restart := restartableDaemon(t)
	r := open(t, o)
	dgst := pack(t, r, imagestore.PackOptions{Entrypoint: []string{"/bin/sh", "-c"}}, nil)
	var once sync.Once
	res, err := r.Run(context.Background(), runner.Spec{Name: "x", Kind: runner.Action, Digest: dgst,
		// Not at once: a start whose answer is lost is another story.
		Args:   []string{"sleep 1; echo before; sleep 2; echo after; exit 7"},
		Stdout: writerFunc(func(p []byte) (int, error) { once.Do(restart); return len(p), nil })})
	if err != nil || res.ExitCode != 7 || string(res.Stdout) != "before\nafter\n" {
		t.Errorf("got %+v, %v", res, err)
	}
	nothingLeft(t, r)
}
