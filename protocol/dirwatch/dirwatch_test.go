package dirwatch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/protocol/dirwatch"
)

// file is one that is watched.
type file struct {
	t    *testing.T
	path string
	told chan string
	end  chan error
	stop context.CancelFunc
}

func watch(t *testing.T, w *dirwatch.Watcher, path string) *file {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	f := &file{t, path, make(chan string, 1000), make(chan error, 1), stop}
	go func() { f.end <- w.Watch(ctx, path, func(detail string) { f.told <- detail }) }()
	f.isTold("the beginning")
	return f
}

// isTold waits for an event, and takes all that come with it.
func (f *file) isTold(of string) {
	f.t.Helper()
	select {
	case <-f.told:
	case <-time.After(time.Minute):
		f.t.Fatalf("%s: it was not told of %s", f.path, of)
	}
	f.quiet()
}

// quiet takes what comes, until nothing does.
func (f *file) quiet() (n int) {
	for {
		select {
		case <-f.told:
			n++
		case <-time.After(50 * time.Millisecond):
			return n
		}
	}
}

func TestWatch_ReportsWhatChanges(t *testing.T) {
	t.Parallel()
	var w dirwatch.Watcher
	dir := t.TempDir()
	a, b := watch(t, &w, filepath.Join(dir, "a")), watch(t, &w, filepath.Join(dir, "b"))
	again := watch(t, &w, filepath.Join(dir, "a"))
	for _, c := range []struct {
		of string
		do func() error
	}{
		{"making it", func() error { return os.WriteFile(a.path, []byte("1"), 0o600) }},
		{"writing it", func() error { return os.WriteFile(a.path, []byte("2"), 0o600) }},
		{"its mode", func() error { return os.Chmod(a.path, 0o640) }},
		{"exchanging it", func() error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "new"), nil, 0o600), os.Rename(filepath.Join(dir, "new"), a.path))
		}},
		{"moving it away", func() error { return os.Rename(a.path, filepath.Join(dir, "new")) }},
		{"moving it back", func() error { return os.Rename(filepath.Join(dir, "new"), a.path) }},
		{"removing it", func() error { return os.Remove(a.path) }},
	} {
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		a.isTold(c.of)
		again.isTold(c.of)
		if _, err := os.ReadFile(a.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if _, err := os.Stat(a.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if n := a.quiet(); n > 0 {
			t.Errorf("after %s: %d events of looking at it", c.of, n)
		}
	}
	if n := b.quiet(); n > 0 {
		t.Errorf("%d events of another file", n)
	}
	a.stop()
	if err := <-a.end; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := os.WriteFile(a.path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	again.isTold("making it, when another watch has ended")
	again.stop()
	b.stop()
	<-again.end
	<-b.end
	watch(t, &w, b.path).stop() // and it starts again
}

func TestWatch_EndsWithItsDirectory(t *testing.T) {
	t.Parallel()
	var w dirwatch.Watcher
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f := watch(t, &w, filepath.Join(dir, "a"))
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-f.end:
		if err == nil || !strings.Contains(err.Error(), dir) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("it goes on")
	}
	if err := w.Watch(t.Context(), filepath.Join(dir, "a"), func(string) {}); err == nil {
		t.Error("what is not there is watched")
	}
}
