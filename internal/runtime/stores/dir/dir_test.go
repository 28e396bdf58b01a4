package dir_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"deployster/internal/base/sharedlog"
	"deployster/internal/base/sharedlog/storetest"
	"deployster/internal/runtime/stores/dir"
)

func TestStore_KeepsTheContract(t *testing.T) {
	root := filepath.Join(t.TempDir(), "state")
	storetest.Suite(t, storetest.Times(t, "DEPLOYSTER_STORE_RACES"), func(*testing.T) sharedlog.Store { return dir.New(root) })
	left, err := filepath.Glob(filepath.Join(root, "*", "*", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files are left: %q, %v", left, err)
	}
}

func TestStore_ReportsWhatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dir.New(file).Create(t.Context(), "log/1", nil); !errors.Is(err, sharedlog.ErrDenied) {
		t.Errorf("a file as a directory gives %v", err)
	}
}

// An object whose writer is killed is there as a whole or not at all.
func TestStore_CreatorIsKilled(t *testing.T) {
	const variable = "DIR_STORE_ROOT"
	if root := os.Getenv(variable); root != "" {
		for n := 0; ; n++ {
			_ = dir.New(root).Create(context.Background(), "log/"+sharedlog.NewID(), []byte(strings.Repeat("x", 64<<10)))
			if n == 3 {
				os.Stdout.WriteString("begun\n")
			}
		}
	}
	root := t.TempDir()
	for range 5 {
		c := exec.Command(os.Args[0], "-test.run", "^TestStore_CreatorIsKilled$")
		c.Env = append(os.Environ(), variable+"="+root)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = out.Read(make([]byte, 8))
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	s := dir.New(root)
	keys, err := s.List(t.Context(), "log/")
	if err != nil || len(keys) < 5 {
		t.Fatalf("%d objects: %v", len(keys), err)
	}
	for _, key := range keys {
		if data, err := s.Get(t.Context(), key); err != nil || len(data) != 64<<10 {
			t.Errorf("%s has %d bytes: %v", key, len(data), err)
		}
	}
}

// A file system that does not answer keeps nobody for longer than he wants to wait, and takes
// no more threads than there may be.
func TestStore_FileSystemDoesNotAnswer(t *testing.T) {
	root := t.TempDir()
	s, fifo := dir.New(root), filepath.Join(root, "log", "1")
	if err := errors.Join(os.Mkdir(filepath.Dir(fifo), 0o700), syscall.Mkfifo(fifo, 0o600)); err != nil {
		t.Fatal(err)
	}
	for range 70 { // who reads a pipe that nobody writes to waits for ever
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if _, err := s.Get(ctx, "log/1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it gives %v", err)
		}
		cancel()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := s.Create(ctx, "log/2", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("beyond what may be at work, it gives %v", err)
	}
	w, err := os.OpenFile(fifo, os.O_WRONLY, 0) // now it answers
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		_ = w.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		err := s.Create(ctx, "log/2", nil)
		cancel()
		if err == nil || errors.Is(err, sharedlog.ErrExists) { // an earlier one was only slow
			break
		}
		if time.Now().After(end) {
			t.Fatalf("it answers again, and still: %v", err)
		}
	}
}

// What killed writers have left goes, in each directory that something is created in.
func TestStore_SweepsEachDirectory(t *testing.T) {
	root := t.TempDir()
	old := time.Now().Add(-25 * time.Hour)
	for _, name := range []string{"log", "state"} {
		file := filepath.Join(root, name, ".new-1")
		if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600), os.Chtimes(file, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	s := dir.New(root)
	for _, key := range []string{"log/1", "state/1"} {
		if err := s.Create(t.Context(), key, nil); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(root, "*", ".new-*")); err != nil || len(left) > 0 {
		t.Errorf("left are %q, %v", left, err)
	}
}
