package durable

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be the other process of the lock tests.
func TestMain(m *testing.M) {
	if path := os.Getenv("DURABLE_TEST_LIMIT"); path != "" {
		os.Exit(limited(path))
	}
	path := os.Getenv("DURABLE_TEST_LOCK")
	if path == "" {
		os.Exit(m.Run())
	}
	l, err := TryLock(path, os.Getenv("DURABLE_TEST_SHARED") == "", "deployster apply")
	if err != nil {
		println("failed:", err.Error())
		os.Exit(1)
	}
	// A child that outlives its parent must not keep the lock.
	child := exec.Command("sleep", "5")
	if err := child.Start(); err != nil {
		println("failed:", err.Error())
		os.Exit(1)
	}
	os.Stdout.WriteString("locked " + strconv.Itoa(child.Process.Pid) + "\n")
	bufio.NewReader(os.Stdin).ReadByte()
	if err := l.Unlock(); err != nil {
		os.Exit(1)
	}
}

// other starts a process that holds the lock.
func other(t *testing.T, path string, shared bool) (stop, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DURABLE_TEST_LOCK="+path)
	if shared {
		cmd.Env = append(cmd.Env, "DURABLE_TEST_SHARED=1")
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "locked ") {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "locked ")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // the sleeping grandchild
		}
	})
	var once sync.Once
	end := func(how func()) func() {
		return func() {
			once.Do(func() {
				how()
				_ = cmd.Wait()
			})
		}
	}
	stop, kill = end(func() { _ = in.Close() }), end(func() { _ = cmd.Process.Kill() })
	t.Cleanup(kill)
	return stop, kill
}

func TestLock_ExcludesAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	stop, _ := other(t, path, false)
	for _, exclusive := range []bool{true, false} {
		_, err := TryLock(path, exclusive, "me")
		var locked *LockedError
		if !errors.As(err, &locked) {
			t.Fatalf("exclusive=%v: %v", exclusive, err)
		}
		if locked.Holder == nil || locked.Holder.Command != "deployster apply" || locked.Holder.PID == os.Getpid() {
			t.Errorf("holder %+v", locked.Holder)
		}
		if !strings.Contains(err.Error(), "deployster apply (process ") {
			t.Errorf("message %q", err)
		}
	}
	stop()
	l, err := TryLock(path, true, "me")
	if err != nil {
		t.Fatalf("after the other has ended: %v", err)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the lock file is gone: %v", err)
	}
}

// TestLock_DiesWithItsProcess kills the holder while a child of it lives on.
func TestLock_DiesWithItsProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	_, kill := other(t, path, false)
	go func() { time.Sleep(30 * time.Millisecond); kill() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l, err := WaitLock(ctx, path, true, "me")
	if err != nil {
		t.Fatalf("the lock outlived its process: %v", err)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
}

func TestLock_IsSharedByReaders(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	stop, _ := other(t, path, true)
	l, err := TryLock(path, false, "me")
	if err != nil {
		t.Fatalf("two shared locks: %v", err)
	}
	if _, err := TryLock(path, true, "me"); err == nil {
		t.Fatal("exclusive beside shared")
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	if _, err := TryLock(path, true, "me"); !errors.As(err, &locked) {
		t.Fatalf("exclusive beside the other's shared: %v", err)
	}
	stop()
	if l, err = TryLock(path, true, "me"); err != nil {
		t.Fatal(err)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
}

func TestWaitLock_GivesUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	l, err := TryLock(path, true, "me")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	// Opening and closing the file elsewhere in this process must not free it.
	if f, err := os.Open(path); err == nil {
		f.Close()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
	defer cancel()
	_, err = WaitLock(ctx, path, true, "me too")
	var locked *LockedError
	if !errors.As(err, &locked) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v", err)
	}
}

func TestHolder_OfAGarbledLockIsUnknown(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	l, err := TryLock(path, true, "me")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	if err := os.WriteFile(path, []byte("\x1b[31m{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = TryLock(path, true, "me")
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Holder != nil {
		t.Fatalf("error %v, holder %+v", err, locked.Holder)
	}
}

// TestLock_EndsWhileAChildHasTheFile: closing alone would leave the lock with any
// other descriptor of the same open file, as a child has between fork and exec.
func TestLock_EndsWhileAChildHasTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	l, err := TryLock(path, true, "me")
	if err != nil {
		t.Fatal(err)
	}
	child, err := syscall.Dup(int(l.f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(child)
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	again, err := TryLock(path, true, "me")
	if err != nil {
		t.Fatalf("unlocked, and still locked: %v", err)
	}
	if err := again.Unlock(); err != nil {
		t.Fatal(err)
	}
}

// A lock file that can be neither made nor found was not to be made: that is the error, and
// not that there is none.
func TestForReading_ReportsErrors(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing")
	for _, why := range []error{syscall.EPERM, syscall.EACCES} {
		if f, err := forReading(path, &os.PathError{Op: "open", Path: path, Err: why}); f != nil || !errors.Is(err, why) {
			t.Errorf("%v: %v, %v", why, f, err)
		}
	}
	if f, err := forReading(path, syscall.EROFS); f != nil || err != nil {
		t.Errorf("read-only: %v, %v", f, err)
	}
}
