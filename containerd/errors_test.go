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

	"deployster/internal/base/diag"
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

func TestAddressErrors(t *testing.T) {
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
	eventually(t, 10*time.Second, "nobody listens", func() bool { return !listening(stale) })
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
	wantDiagnostic(t, fails(t, Options{Address: "unix://" + other, RuntimeDir: run}), "does not answer as containerd")
	if left := clients(run); len(left) > 0 {
		t.Errorf("clients are left: %q", left)
	}
}

func TestDirectoryErrors(t *testing.T) {
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

func TestAnotherOwner(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	open(t, o)
	second := o
	second.RuntimeDir = o.RuntimeDir + "b"
	t.Cleanup(func() { os.RemoveAll(second.RuntimeDir) })
	wantDiagnostic(t, fails(t, second), "belongs to another containerd", o.RuntimeDir, o.DataDir)
}

func TestServerThatFails(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	// A database that is none.
	dir := filepath.Join(o.server().root(), "io.containerd.metadata.v1.bolt")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "meta.db"), []byte(strings.Repeat("not a database", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	wantDiagnostic(t, fails(t, o), "did not start", o.server().logFile(), "invalid database")
	t.Cleanup(func() { os.RemoveAll(o.RuntimeDir) })
}

func TestNotRoot(t *testing.T) {
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

func TestRuncVersions(t *testing.T) {
	for version, want := range map[string]bool{
		"1.0.3": false, "1.1.5+ds1": false, "1.2.9": false, "1.3.5": false, "1.3.6": true, "1.3.7-rc.1": true, "1.3.6-rc.1": false,
		"1.4.2": false, "1.4.3": true, "1.4.3-rc.2": false, "1.5.0-rc.1": false, "1.5.0": true, "1.12.0": true, "2.0.0": true,
	} {
		got, safe, err := parseRunc("runc version " + version + "\ncommit: x\n")
		if err != nil || safe != want || !strings.HasPrefix(version, got) {
			t.Errorf("%s: got %s, %v, %v", version, got, safe, err)
		}
	}
	if _, _, err := parseRunc("crun version 1.8.1\n"); err == nil {
		t.Error("crun was taken for runc")
	}
}

// fakeRunc makes a program that says to be a runc.
func fakeRunc(t *testing.T, version string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runc")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho runc version "+version+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFindRunc(t *testing.T) {
	ctx := context.Background()
	old, safe := fakeRunc(t, "1.1.5"), fakeRunc(t, "1.4.3")
	t.Setenv("PATH", filepath.Dir(safe))
	if got, err := findRunc(ctx, Options{Runc: old}); err != nil || got != safe {
		t.Errorf("an old one asked for, a safe one on PATH: got %s, %v", got, err)
	}
	t.Setenv("PATH", filepath.Dir(old))
	if got, err := findRunc(ctx, Options{Runc: safe}); err != nil || got != safe {
		t.Errorf("a safe one asked for: got %s, %v", got, err)
	}
	_, err := findRunc(ctx, Options{})
	wantDiagnostic(t, err, "too old", old, "1.1.5", runcMinimum, "DEPLOYSTER_ALLOW_OLD_RUNC")
	var warned []*diag.Diagnostic
	got, err := findRunc(ctx, Options{AllowOldRunc: true, Warn: func(d *diag.Diagnostic) { warned = append(warned, d) }})
	if err != nil || got != old || len(warned) != 1 || warned[0].Severity != diag.Warning {
		t.Errorf("an old one allowed: got %s, %v, %v", got, err, warned)
	}
	t.Chdir(filepath.Dir(safe))
	if got, err := findRunc(ctx, Options{Runc: "./runc"}); err != nil || got != safe {
		t.Errorf("a relative path: got %s, %v", got, err)
	}
	// One that is named and not there is never passed over, also with a safe
	// one on PATH.
	for _, named := range []string{"/nowhere/runc", t.TempDir()} {
		_, err = findRunc(ctx, Options{Runc: named})
		wantDiagnostic(t, err, "The runc that is asked for is not there", named, "DEPLOYSTER_RUNC")
	}
	t.Setenv("PATH", t.TempDir())
	_, err = findRunc(ctx, Options{})
	wantDiagnostic(t, err, "There is no runc", "DEPLOYSTER_RUNC")
}

func TestOpenCancelled(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	cause := errors.New("not any more")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	start := time.Now()
	if _, err := Open(ctx, o); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("it took %s", d)
	}
	_ = os.RemoveAll(o.RuntimeDir)
}
