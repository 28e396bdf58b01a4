package containerd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"deployster/containerd/agentconn"
	"deployster/containerd/daemon"
	"deployster/containerd/server"
	"deployster/containerd/shim"
	"deployster/internal/base/diag"
	"deployster/internal/base/proc"
	"deployster/internal/base/rootless"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// TestMain makes this test binary what the product's binary is: also the
// shim and the server.
func TestMain(m *testing.M) {
	if rootless.IsHolder(os.Args[0]) {
		os.Exit(rootless.Hold(os.Args[1:]))
	}
	if shim.Is(os.Args[0]) {
		shim.Run()
		return
	}
	if server.Is(os.Args[0]) {
		os.Exit(server.Run(os.Args[1:]))
	}
	if os.Args[0] == testClientName {
		os.Exit(testClient())
	}
	if err := enterNamespace(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(runTests(m))
}

// runTests runs the tests below one temporary directory, and then looks whether
// a goroutine, a file or a mount of them is left.
func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "c") // short, because of the sockets in it
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o711), os.Setenv("TMPDIR", dir))
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	helpers, err := buildHelpers()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	code := m.Run()
	// What a Runtime starts ends with it.
	left := goleak.Find()
	for _, path := range helpers {
		left = errors.Join(left, os.Remove(path))
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil || bytes.Contains(mounts, []byte(" "+dir+"/")) {
		left = errors.Join(left, err, fmt.Errorf("mounts are left below %s", dir))
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		left = errors.Join(left, err, fmt.Errorf("files are left: %v", entries))
	}
	if left != nil {
		fmt.Println(left)
		return 1
	}
	if err := os.Remove(dir); err != nil {
		fmt.Println(err)
		return 1
	}
	return code
}

// buildHelpers puts the programs that are only the shim and only the agent beside
// this one, where a server and its clients look for them. So the containers of these
// tests run under what a build makes.
func buildHelpers() (paths []string, err error) {
	if rootless.Inside() {
		return nil, nil // root has put them there
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(self)
	for name, source := range map[string]string{server.ShimProgram: "deployster/containerd/shim/deployster-shim", agentconn.AgentName: "deployster/containerd/agent/deployster-agent"} {
		path := filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, source)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building %s: %w\n%s", name, err, out)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// moduleRoot is where go.mod is; tests run in their package's directory.
func moduleRoot(t testing.TB) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// newEnoughRunc returns the runc of the module's tools, and builds it when it is
// not there.
func newEnoughRunc(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(runcVariable); path != "" {
		return path
	}
	root := moduleRoot(t)
	path := filepath.Join(root, "bin", "runc")
	if _, err := os.Stat(path); err != nil {
		cmd := exec.Command("go", "build", "-tags", "seccomp", "-o", path, "github.com/opencontainers/runc")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("building runc (it needs gcc, pkg-config and libseccomp-dev): %v\n%s", err, out)
		}
	}
	return path
}

func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("these tests make containers and must run as root")
	}
}

// embedded returns the options of an embedded containerd of its own, which ends
// with the test.
func embedded(t testing.TB) Options {
	t.Helper()
	needRoot(t)
	o := Options{DataDir: t.TempDir(), Runc: newEnoughRunc(t), IdleExit: 30 * time.Second}
	o.Warn = func(d *diag.Diagnostic) { t.Errorf("unexpected warning: %v", d) }
	o, err := o.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endServer(t, o) })
	return o
}

// endServer makes the server of a data directory leave, and checks that
// nothing of it stays.
func endServer(t testing.TB, o Options) {
	t.Helper()
	if t.Failed() {
		t.Logf("the server's log:\n%s", daemon.LastLines(o.server().LogFile(), 40))
	}
	pid := serverPid(o)
	if pid == 0 {
		return
	}
	// A server leaves when its data directory is gone.
	if err := os.Remove(o.server().LockFile()); err != nil {
		t.Error(err)
	}
	eventually(t, "the server leaves", func() bool { return !processLives(pid) })
	if _, err := os.Stat(o.RuntimeDir); err == nil {
		t.Errorf("%s is left behind", o.RuntimeDir)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{o.DataDir, o.RuntimeDir} {
		if bytes.Contains(mounts, []byte(dir+"/")) {
			t.Errorf("something is left mounted below %s:\n%s", dir, mounts)
		}
	}
	for _, p := range processesWith(o.RuntimeDir) {
		t.Errorf("a process is left: %s", p)
	}
}

func serverPid(o Options) (pid int) {
	b, _ := os.ReadFile(o.server().LockFile())
	_, _ = fmt.Sscanf(string(b), "process %d", &pid)
	if !processLives(pid) {
		return 0
	}
	return pid
}

func processLives(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(b, []byte(") Z "))
}

// processesWith lists the processes with a text in their command lines.
func processesWith(text string) (found []string) {
	for _, pid := range pidsWith(text) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may have ended
		found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
	}
	return found
}

// pidsWith lists the other processes in whose command lines all of these texts are.
func pidsWith(texts ...string) (pids []int) {
	files, _ := proc.Files("cmdline")
	for _, file := range files {
		line, _ := os.ReadFile(file) // it may have ended
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if pid != os.Getpid() && !slices.ContainsFunc(texts, func(text string) bool { return !bytes.Contains(line, []byte(text)) }) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// eventually waits for what a slow machine may take long for.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Errorf("waited for a minute in vain: %s", what)
}

func open(t testing.TB, o Options) *Runtime {
	t.Helper()
	r, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return r
}

// busyboxDir returns a directory with a busybox, its usual names, and more
// files.
func busyboxDir(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	b, err := os.ReadFile("/bin/busybox")
	if err != nil {
		t.Fatalf("these tests pack /bin/busybox of Debian's package busybox-static: %v", err)
	}
	write := func(name string, b []byte, mode os.FileMode) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, mode); err != nil {
			t.Fatal(err)
		}
	}
	write("bin/busybox", b, 0o755)
	for _, name := range []string{"sh", "cat", "true", "sleep", "id", "env", "ls", "grep", "mount", "head", "wc", "sha256sum", "dd", "tr", "touch", "ip", "stat"} {
		if err := os.Symlink("busybox", filepath.Join(dir, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		write(name, []byte(text), 0o755)
	}
	return dir
}

// pack packs busybox and gives its digest.
func pack(t testing.TB, r *Runtime, o imagestore.PackOptions, files map[string]string) string {
	t.Helper()
	if o.Reference == "" {
		o.Reference = "test/busybox:1"
	}
	if o.Dir == "" {
		o.Dir = busyboxDir(t, files)
	}
	info, err := r.Images.Pack(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return info.Digest
}

// lockedBuffer is a writer for tests that look while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

var (
	_ runner.Runner = (*Runtime)(nil)
	_ io.Writer     = (*lockedBuffer)(nil)
)
