package store

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"deployster/internal/base/durable"
)

// The lock of an entry goes with it, and that of a fetch which failed later; one that somebody
// has stays.
func TestStore_LeavesNoLocks(t *testing.T) {
	t.Parallel()
	l := newEnv(t)
	key := l.fetch(t, "1").Key
	l.fetch(t, "2")
	l.close(t)
	if err := os.WriteFile(l.Store.lock("failed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := durable.TryLock(l.Store.lock("fetching"), true, "test")
	if err != nil {
		t.Fatal(err)
	}
	if removed, err := l.Prune(t.Context(), true); len(removed) != 2 || err != nil {
		t.Fatalf("%+v, %v", removed, err)
	}
	entries, err := os.ReadDir(l.o.Dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "fetching.lock" {
		t.Errorf("%v, %v", entries, err)
	}
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
	if again := l.fetch(t, "1"); again.Key != key || !again.Fetched {
		t.Errorf("%+v", again)
	}
}

// Who took a lock whose file was removed does not have it: files that are held stay, however
// many others remove what nobody holds.
func TestStore_HoldsDuringRemoval(t *testing.T) {
	t.Parallel()
	l := newEnv(t)
	var users, removers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		removers.Go(func() {
			for o := New(l.o); ; {
				if _, err := o.Prune(t.Context(), true); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Error(err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 4 {
		users.Go(func() {
			for range 100 {
				o := New(l.o)
				h, err := o.Fetch(t.Context(), order("1"))
				for range 20 {
					if _, gone := os.Stat(filepath.Join(h.Dir, "version")); err != nil || gone != nil {
						t.Errorf("%v, and what is held: %v", err, gone)
						break
					}
				}
				if err := o.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	users.Wait()
	close(done)
	removers.Wait()
}
