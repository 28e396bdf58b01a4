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

	"deployster/internal/diag"
	"deployster/internal/invoke/invoketest"
)

// daemon starts a private instance of the system's containerd, which is of
// another version than the embedded one, and gives the options for it.
func daemon(t testing.TB) Options {
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
	config := filepath.Join(dir, "config.toml")
	text := "version = 2\nroot = \"" + dir + "/root\"\nstate = \"" + dir + "/state\"\n" +
		"disabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n[grpc]\naddress = \"" + dir + "/c.sock\"\n[ttrpc]\naddress = \"" + dir + "/t.sock\"\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--config", config)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the daemon's log:\n%s", lastLines(log.Name(), 20))
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // it ends by the signal
		log.Close()
		for _, p := range processesWith(dir) {
			t.Errorf("a process is left: %s", p)
		}
		if err := unmountBelow(dir); err != nil {
			t.Error(err)
		}
	})
	socket := filepath.Join(dir, "c.sock")
	eventually(t, 20*time.Second, "the daemon listens", func() bool {
		c, err := net.Dial("unix", socket)
		if err != nil {
			return false
		}
		c.Close()
		return true
	})
	return Options{Address: socket, RuntimeDir: filepath.Join(dir, "run")}
}

func TestDaemonKeepsTheContract(t *testing.T) {
	t.Parallel()
	o := daemon(t)
	var mu sync.Mutex
	var warnings []string
	o.Warn = func(d *diag.Diagnostic) {
		mu.Lock()
		defer mu.Unlock()
		warnings = append(warnings, d.Error())
	}
	r := open(t, o)
	packProbe(t, r)
	t.Run("suite", func(t *testing.T) { invoketest.Suite(t, r) })
	nothingLeft(t, r)

	// The runc on its PATH is the daemon's, and may be an old one.
	path, err := exec.LookPath("runc")
	if err != nil {
		t.Fatal(err)
	}
	version, safe, err := askRunc(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if told := len(warnings) == 1 && strings.Contains(warnings[0], path) && strings.Contains(warnings[0], version); told == safe {
		t.Errorf("the daemon's runc is %s (safe: %v), and the warnings are %q", version, safe, warnings)
	}
}
