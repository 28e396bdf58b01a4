package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Files count as used for as long as they are held: a command of hours does not remove what
// it has just worked with, nor does the next one.
func TestStore_KeepsWhatALongCommandHeld(t *testing.T) {
	t.Parallel()
	l := newEnv(t)
	l.o.Max = 1
	key := l.fetch(t, "1").Key
	begun := time.Now().Add(-3 * time.Hour)
	if err := os.Chtimes(l.dir(key), begun, begun); err != nil {
		t.Fatal(err)
	}
	l.close(t)
	if _, local := l.Look(key); !local {
		t.Error("the command has removed what it held")
	}
	if removed, err := l.other(t).Prune(t.Context(), false); len(removed) > 0 || err != nil {
		t.Errorf("the next command has removed %v, %v", removed, err)
	}
}

// What is not needed any more can be pruned while other files stay held, and is obtained again
// by who asks for it all the same.
func TestStore_Releases(t *testing.T) {
	t.Parallel()
	l := newEnv(t)
	old, now := l.fetch(t, "1").Key, l.fetch(t, "2").Key
	if err := l.Release(func(key string) bool { return key == now }); err != nil {
		t.Fatal(err)
	}
	removed, err := l.other(t).Prune(t.Context(), true)
	if err != nil || len(removed) != 1 || removed[0].Key != old {
		t.Errorf("removed %v, %v", removed, err)
	}
	if !l.fetch(t, "1").Fetched || l.fetch(t, "2").Fetched {
		t.Error("what was needed is fetched again, or the other is not")
	}
	if removed, err := l.other(t).Prune(t.Context(), true); err != nil || len(removed) > 0 {
		t.Errorf("what is held again was removed: %v, %v", removed, err)
	}
}

// A directory that is no entry is in no list and in no sum: pruning removes it, unless
// something may still use its files.
func TestStore_PrunesWhatIsNotAnEntry(t *testing.T) {
	t.Parallel()
	l := newEnv(t)
	strange, spoiled, good := strings.Repeat("0", 64), l.fetch(t, "1").Key, l.fetch(t, "2").Key
	if err := errors.Join(os.MkdirAll(filepath.Join(l.dir(strange), dataName), 0o700),
		os.WriteFile(filepath.Join(l.dir(spoiled), metaName), []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	local := func(key string) bool { _, err := os.Stat(l.dir(key)); return err == nil }
	for _, held := range []bool{true, false} {
		if _, err := l.other(t).Prune(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		if local(strange) || local(spoiled) != held || !local(good) {
			t.Errorf("held %v: %v, %v, %v", held, local(strange), local(spoiled), local(good))
		}
		l.close(t)
	}
}
