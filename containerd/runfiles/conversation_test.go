package runfiles

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
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
