package state

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
)

// TestMain lets the test binary be the other process of the lock tests.
func TestMain(m *testing.M) {
	path := os.Getenv("STATE_TEST_OPEN")
	if path == "" {
		os.Exit(m.Run())
	}
	s, err := Open(context.Background(), File(path), Options{Command: "deployster apply plan.bin"})
	if err == nil {
		var j *Journal
		if j, err = s.Begin("p-other", "lineage"); err == nil {
			err = j.ActionStarted(Start{Address: "web", Action: "make", Key: "k"})
		}
	}
	if err != nil {
		os.Stdout.WriteString("failed: " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Stdout.WriteString("open\n")
	bufio.NewReader(os.Stdin).ReadByte()
}

// TestLock_EndsWithItsProcess finds the state locked by an apply, kills that, and continues
// without anybody unlocking anything.
func TestLock_EndsWithItsProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "STATE_TEST_OPEN="+path)
	in, err := cmd.StdinPipe()
	ok(t, err)
	defer in.Close()
	out, err := cmd.StdoutPipe()
	ok(t, err, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	ok(t, err)
	if line != "open\n" {
		t.Fatal(line)
	}
	_, err = Open(t.Context(), File(path), Options{})
	refused(t, err, ErrLocked)
	var locked *durable.LockedError
	var d *diag.Diagnostic
	if !errors.As(err, &locked) || !errors.As(err, &d) || !strings.Contains(d.Detail, "deployster apply plan.bin (process ") {
		t.Errorf("error %v does not say who", err)
	}
	_, err = ReadShared(t.Context(), File(path), Options{Wait: 30 * time.Millisecond})
	refused(t, err, ErrLocked)
	if got, rec, err := Load(File(path)); err != nil || got.Lineage != "lineage" || rec == nil || len(rec.InFlight) != 1 {
		t.Errorf("reading meanwhile: %+v %+v %v", got, rec, err)
	}
	ok(t, cmd.Process.Kill())
	s, err := Open(t.Context(), File(path), Options{Wait: 3 * time.Second})
	ok(t, err)
	if rec := s.Recovery(); rec == nil || len(rec.InFlight) != 1 || rec.InFlight[0].Address != "web" {
		t.Errorf("recovery %+v", rec)
	}
	ok(t, s.Close())
}

func TestPlans_DoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	first, err := ReadShared(t.Context(), File(path), Options{})
	ok(t, err)
	second, err := ReadShared(t.Context(), File(path), Options{})
	ok(t, err)
	_, err = Open(t.Context(), File(path), Options{})
	refused(t, err, ErrLocked)
	ok(t, first.Close(), second.Close())
	// Another name of the same state leads to the same lock.
	ok(t, mustBegin(t, mustOpenAndKeep(t, path), "p").Finish(StatusOK))
	link := filepath.Join(t.TempDir(), "link.json")
	ok(t, os.Symlink(path, link))
	_, err = Open(t.Context(), File(link), Options{})
	refused(t, err, ErrLocked)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, File(link), Options{Wait: time.Minute}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled wait gave %v", err)
	}
}

// mustOpenAndKeep holds the state until the test ends.
func mustOpenAndKeep(t *testing.T, path string) *Store {
	t.Helper()
	s := mustOpen(t, path)
	t.Cleanup(func() { ok(t, s.Close()) })
	return s
}
