package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"deployster/internal/runtime/artifact/tree"
)

// Files of another machine are taken once, and only as they were sent.
func TestStore_Receives(t *testing.T) {
	l := newEnv(t)
	unpacked := 0
	unpack := func(dir string) error {
		unpacked++
		return errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o644))
	}
	like := filepath.Join(t.TempDir(), "like")
	if err := unpack(like); err != nil {
		t.Fatal(err)
	}
	sum, err := tree.Measure(t.Context(), like)
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	for name, c := range map[string]struct {
		key, hash string
		unpack    func(string) error
	}{
		"other files":          {"k1", "sha256:other", unpack},
		"what ends too early":  {"k1", sum.Hash, func(dir string) error { return errors.Join(unpack(dir), gone) }},
		"a key that is a path": {"../k1", sum.Hash, unpack},
	} {
		if _, err := l.Receive(t.Context(), c.key, "a", c.hash, c.unpack); err == nil {
			t.Errorf("%s: it is taken", name)
		}
		if left, _ := filepath.Glob(filepath.Join(l.o.Dir, "k1*", "*")); len(left) > 0 {
			t.Errorf("%s: %v", name, left)
		}
	}
	unpacked = 0
	for range 2 {
		held, err := l.Receive(t.Context(), "k1", "a", sum.Hash, unpack)
		if err != nil || held.Tree != sum.Hash || held.Files != 1 {
			t.Fatalf("%+v, %v", held, err)
		}
	}
	held, err := l.other(t).Receive(t.Context(), "k1", "a", sum.Hash, unpack)
	if err != nil || unpacked != 1 {
		t.Errorf("%v, sent %d times", err, unpacked)
	}
	if b, err := os.ReadFile(filepath.Join(held.Dir, "f")); string(b) != "x" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if e, ok := l.Look("k1"); !ok || e.Name != "a" {
		t.Errorf("%+v, %v", e, ok)
	}
}
