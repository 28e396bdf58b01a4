package sharedstate

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"deployster/internal/app/workspace"
	"deployster/state"
)

// A state file that moves is at its place until the word about where it went is there:
// whoever dies in between leaves no place at which a second state could begin.
func TestLeave_NeverWithoutAState(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "state.json")
	if err := os.WriteFile(from, []byte("the state"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := workspace.New(workspace.Options{})
	gone := watchLeaving(t, dir, "state.json")
	if err := leave(new(state.Store), w.Place(from), w.Place(filepath.Join(dir, "new.json"))); err != nil {
		t.Fatal(err)
	}
	if gone() {
		t.Error("there was a moment without a state")
	}
	mark, err := os.ReadFile(from)
	if err != nil || !strings.Contains(string(mark), "new.json") {
		t.Errorf("%q, %v", mark, err)
	}
	if old, err := os.ReadFile(from + ".moved"); err != nil || string(old) != "the state" {
		t.Errorf("%q, %v", old, err)
	}
}

// Whoever has died before the word was written is gone on from, and what another move has
// put aside stays.
func TestLeave_BegunAgain(t *testing.T) {
	for name, aside := range map[string]string{"the same": "the state", "another": "one of before"} {
		t.Run(name, func(t *testing.T) {
			from := filepath.Join(t.TempDir(), "state.json")
			for path, text := range map[string]string{from: "the state", from + ".moved": aside} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w := workspace.New(workspace.Options{})
			if err := leave(new(state.Store), w.Place(from), w.Place(from+".new")); err != nil {
				t.Fatal(err)
			}
			kept, _ := filepath.Glob(from + ".moved*")
			if text, err := os.ReadFile(from + ".moved"); err != nil || string(text) != aside || len(kept) != 1 && aside == "the state" ||
				len(kept) != 2 && aside != "the state" {
				t.Errorf("%q, %v, kept %q", text, err, kept)
			}
			if text, err := os.ReadFile(kept[len(kept)-1]); err != nil || string(text) != "the state" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

// watchLeaving tells whether a name in a directory was removed or renamed since.
func watchLeaving(t *testing.T, dir, name string) func() bool {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_MOVED_FROM|unix.IN_DELETE); err != nil {
		t.Fatal(err)
	}
	return func() bool {
		events := make([]byte, 4096)
		n, _ := unix.Read(fd, events) // EAGAIN: nothing happened
		return n > 0 && bytes.Contains(events[:n], []byte(name+"\x00"))
	}
}
