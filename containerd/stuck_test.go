package containerd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// A server that is stopped is told by its number and what to do, not taken for
// somebody's daemon.
func TestStoppedServer_ErrorNamesItsProcess(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	open(t, o)
	pid := serverPid(o)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }() // it is there: the test's end needs it
	// Until all of its threads have seen the signal it may answer once more.
	eventually(t, "it stands still", func() bool {
		threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
		return err == nil && !slices.ContainsFunc(threads, func(path string) bool {
			b, err := os.ReadFile(path)
			return err == nil && !bytes.Contains(b, []byte(") T "))
		})
	})
	err := fails(t, o)
	wantDiagnostic(t, err, "The embedded containerd does not answer", "which is stopped", "kill -CONT", o.server().LogFile())
	if strings.Contains(err.Error(), "-containerd-address") {
		t.Errorf("it speaks of a daemon: %v", err)
	}
}

// Whoever comes right after the data directory was removed gets a new server,
// not the one that is about to see it.
func TestServer_IdleWithoutItsDataDir(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	packProbe(t, r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	old := serverPid(o)
	if err := os.RemoveAll(o.server().Root()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(o.server().LockFile()); err != nil {
		t.Fatal(err)
	}
	r, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if now := serverPid(o); now == old || now == 0 {
		t.Errorf("the server is process %d, and was %d", now, old)
	}
	dgst := packProbe(t, r)
	if res, err := r.Run(context.Background(), runner.Spec{Name: "x", Kind: runner.Query, Digest: dgst, Timeout: time.Minute}); err != nil || res.ExitCode != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

// That a daemon is lost is said at once, not when nobody believes in it any
// more.
func TestDaemon_LostIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	o, restart := restartableDaemon(t)
	said := make(chan time.Time, 10)
	o.Warn = func(d *diag.Diagnostic) {
		if strings.Contains(d.Summary, "daemon was lost") {
			said <- time.Now()
		}
	}
	r := open(t, o)
	dgst := pack(t, r, imagestore.PackOptions{Entrypoint: []string{"/bin/sh", "-c"}}, nil)
	var once sync.Once
	var lost time.Time
	res, err := r.Run(context.Background(), runner.Spec{Name: "x", Kind: runner.Action, Digest: dgst, Args: []string{"echo before; sleep 3; exit 7"},
		Stdout: writerFunc(func(p []byte) (int, error) {
			once.Do(func() { lost = time.Now(); restart() })
			return len(p), nil
		})})
	if err != nil || res.ExitCode != 7 {
		t.Errorf("%+v, %v", res, err)
	}
	select {
	case at := <-said:
		if at.Sub(lost) > 20*time.Second {
			t.Errorf("it was said after %s", at.Sub(lost))
		}
	default:
		t.Error("it was never said")
	}
	if len(said) > 0 {
		t.Error("it was said more than once")
	}
}
