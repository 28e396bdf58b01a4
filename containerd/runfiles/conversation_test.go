package runfiles

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// polled is a tail without inotify, as on a machine that allows no more instances.
func polled(t *testing.T) *TailReader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stdout")
	if err := os.WriteFile(path, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := openTail(path)
	if err != nil {
		t.Fatal(err)
	}
	if s.grows != nil {
		_ = s.grows.Close()
		s.grows = nil
	}
	t.Cleanup(s.Close)
	return s
}

func TestTail_PolledReadsAllUntilItsEnd(t *testing.T) {
	s := polled(t)
	go func() {
		time.Sleep(20 * time.Millisecond)
		f, err := os.OpenFile(s.file.Name(), os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, _ = f.WriteString("two\n")
			_ = f.Close()
		}
		s.Finish()
	}()
	got, err := io.ReadAll(s)
	if string(got) != "one\ntwo\n" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
}

// A worker may be quiet for hours. With a fixed interval, 150 of them took two processors.
func TestTail_PolledRarelyWhenQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := polled(t)
		s.wait(time.Minute) // until others are read too
		began := time.Now()
		s.wait(time.Minute)
		if took := time.Since(began); took != mostPause {
			t.Errorf("read again after %s, want %s", took, mostPause)
		}
	})
}

// What the kernel reports nothing of is read nevertheless.
func TestTail_ReadsWithoutEvents(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "stdout")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := openTail(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if s.grows == nil {
		t.Skip("this machine has no inotify instance left")
	}
	_ = s.grows.Close()
	none, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	s.grows = os.NewFile(uintptr(none), "inotify of nothing")
	time.AfterFunc(100*time.Millisecond, func() { _ = os.WriteFile(path, []byte("one\n"), 0o600) }) // the read sees it
	got := make(chan string)
	go func() {
		b := make([]byte, 10)
		n, _ := s.Read(b)
		got <- string(b[:n])
	}()
	select {
	case text := <-got:
		if text != "one\n" {
			t.Errorf("read %q", text)
		}
	case <-time.After(time.Minute):
		t.Error("nothing was read")
		s.Finish()
		<-got
	}
	go s.Finish()
	if n, err := s.Read(make([]byte, 10)); n != 0 || err != io.EOF {
		t.Errorf("after the end: %d, %v", n, err)
	}
}
