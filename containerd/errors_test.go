package containerd

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"deployster/containerd/daemon"
	"deployster/containerd/layout"
)

// wantDiagnostic checks an error for its summary and for what a user can do.
func wantDiagnostic(t *testing.T, err error, texts ...string) {
	t.Helper()
	if !isDiagnostic(err) {
		t.Errorf("got %v", err)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q is not in: %v", text, err)
		}
	}
}

func fails(t *testing.T, o Options) error {
	t.Helper()
	r, err := Open(context.Background(), o)
	if err == nil {
		t.Errorf("%+v: opened", o)
		_ = r.Close()
	}
	return err
}

func TestAddress_ErrorsNameItAndTheVariable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	missing := filepath.Join(dir, "no.sock")
	wantDiagnostic(t, fails(t, Options{Address: missing, RuntimeDir: run}), "There is no containerd at "+missing, "CONTAINERD_ADDRESS")
	for _, bad := range []string{"localhost:1234", "tcp://127.0.0.1:99", "run/containerd.sock"} {
		wantDiagnostic(t, fails(t, Options{Address: bad, RuntimeDir: run}), "address is not usable", bad)
	}
	wantDiagnostic(t, fails(t, Options{Address: dir, RuntimeDir: run}), "is not a socket")
	stale := filepath.Join(dir, "stale")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	// A process that another test is just starting may still have it.
	eventually(t, "nobody listens", func() bool { return !daemon.Listening(stale) })
	wantDiagnostic(t, fails(t, Options{Address: stale, RuntimeDir: run}), "There is no containerd at "+stale, "refused")

	other := filepath.Join(dir, "other")
	l2, err := net.Listen("unix", other)
	if err != nil {
		t.Fatal(err)
	}
	defer l2.Close()
	go func() {
		for {
			c, err := l2.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			c.Close()
		}
	}()
	wantDiagnostic(t, fails(t, Options{Address: "unix://" + other, RuntimeDir: run}), "is not a containerd")
	if left := layout.Clients(run); len(left) > 0 {
		t.Errorf("clients are left: %q", left)
	}
}

func TestDirectory_ErrorsNameTheFix(t *testing.T) {
	t.Parallel()
	needRoot(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	runc := newEnoughRunc(t)
	wantDiagnostic(t, fails(t, Options{DataDir: file, Runc: runc}), file, "DEPLOYSTER_DATA_DIR")
	wantDiagnostic(t, fails(t, Options{DataDir: dir + "/d", RuntimeDir: file, Runc: runc}), file)
	long := filepath.Join("/run/deployster", strings.Repeat("x", 60))
	wantDiagnostic(t, fails(t, Options{DataDir: dir + "/d", RuntimeDir: long, Runc: runc}), long)
	// /proc takes no new directories, root or not.
	wantDiagnostic(t, fails(t, Options{DataDir: "/proc/deployster", Runc: runc}), "/proc/deployster")
}

func TestOpen_RefusesTheDirectoryOfAnotherContainerd(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	open(t, o)
	second := o
	second.RuntimeDir = o.RuntimeDir + "b"
	t.Cleanup(func() { os.RemoveAll(second.RuntimeDir) })
	wantDiagnostic(t, fails(t, second), "belongs to another containerd", o.RuntimeDir, o.DataDir)
}

func TestServerThat_Fails(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	// A database that is none.
	dir := filepath.Join(o.server().Root(), "io.containerd.metadata.v1.bolt")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "meta.db"), []byte(strings.Repeat("not a database", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	wantDiagnostic(t, fails(t, o), "did not start", o.server().LogFile(), "invalid database")
	t.Cleanup(func() { os.RemoveAll(o.RuntimeDir) })
}

func TestOpen_RequiresRoot(t *testing.T) {
	t.Parallel()
	needRoot(t)
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{testClientName, `{"DataDir":"/tmp/never"}`},
		SysProcAttr: &syscall.SysProcAttr{Credential: nobody()}}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err == nil {
		t.Error("it worked")
	}
	for _, text := range []string{"Not enough rights", "as root", "-containerd-address"} {
		if !strings.Contains(stderr.String(), text) {
			t.Errorf("%q is not in %q", text, stderr.String())
		}
	}
}

func nobody() *syscall.Credential { return &syscall.Credential{Uid: 65534, Gid: 65534} }

func TestOpen_ReturnsTheCauseOfACancel(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	cause := errors.New("not any more")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	start := time.Now()
	if _, err := Open(ctx, o); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("it took %s", d)
	}
	_ = os.RemoveAll(o.RuntimeDir)
}
