package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/state/actions"
)

// record makes one run that records a resource.
func recordRun(t *testing.T, path, addr string) {
	t.Helper()
	s := mustOpen(t, path)
	j := mustBegin(t, s, "plan of "+addr)
	ok(t, j.Valid(addr, entry(`{}`)), j.Finish(StatusOK), s.Close())
}

func TestCopies_TheLastAreKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	for i := range 13 {
		recordRun(t, path, fmt.Sprintf("r%d", i))
	}
	copies, err := Copies(File(path))
	ok(t, err)
	if len(copies) != MaxCopies || copies[0].Serial != 4 || copies[9].Serial != 13 {
		t.Fatalf("%+v", copies)
	}
	for i, c := range copies {
		if c.Err != nil || c.Resources != i+4 || c.At.IsZero() {
			t.Errorf("%+v", c)
		}
	}
	live, err := os.ReadFile(path)
	ok(t, err)
	last, err := os.ReadFile(copies[9].Path)
	ok(t, err)
	if string(live) != string(last) {
		t.Error("the last copy differs from the state file")
	}
	// Damage to the state file in place leaves the copy alone.
	ok(t, os.Truncate(path, 0))
	if info, err := os.Stat(copies[9].Path); err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

func TestRestore_ReplacesADamagedState(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	for i := range 3 {
		recordRun(t, path, fmt.Sprintf("r%d", i))
	}
	ok(t, os.WriteFile(path, nil, 0o600)) // as the wrong tool leaves it
	_, err := Open(t.Context(), File(path), Options{})
	refused(t, err, ErrDamaged)
	if !strings.Contains(err.Error(), "state restore") {
		t.Errorf("the way out is not said: %v", err)
	}
	got, err := Restore(t.Context(), File(path), 2, Options{})
	ok(t, err)
	if got.Snapshot.Serial != 4 || len(got.Snapshot.Resources) != 2 || got.Journal {
		t.Errorf("%+v", got)
	}
	if info, err := os.Stat(got.Aside); err != nil || info.Size() != 0 {
		t.Errorf("what was there is not at %q: %v", got.Aside, err)
	}
	s, _, err := Load(File(path))
	ok(t, err)
	if s.Serial != 4 || len(s.Resources) != 2 {
		t.Errorf("%+v", s)
	}
	second, err := Restore(t.Context(), File(path), 3, Options{})
	ok(t, err)
	if second.Aside == got.Aside || second.Snapshot.Serial != 5 || len(second.Snapshot.Resources) != 3 {
		t.Errorf("%+v", second)
	}
	_, err = Restore(t.Context(), File(path), 99, Options{})
	refused(t, err, os.ErrNotExist)
	held := mustOpen(t, path)
	_, err = Restore(t.Context(), File(path), 2, Options{})
	refused(t, err, ErrLocked)
	ok(t, held.Close())
}

// TestRestore_UnderAJournal: the state file was lost after an apply died. The
// copy it began with, and no other, brings back all that it had recorded.
func TestRestore_UnderAJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	recordRun(t, path, "a")
	recordRun(t, path, "b")
	s := mustOpen(t, path)
	j := mustBegin(t, s, "died")
	ok(t, j.Valid("c", entry(`{}`)), s.Close()) // without Finish
	ok(t, os.Remove(path))
	_, err := Open(t.Context(), File(path), Options{})
	refused(t, err, ErrDamaged)
	_, err = Restore(t.Context(), File(path), 1, Options{})
	refused(t, err, ErrForeign)
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a refusal left something: %v", err)
	}
	got, err := Restore(t.Context(), File(path), 2, Options{})
	ok(t, err)
	if !got.Journal || got.Aside != "" || got.Snapshot.Serial != 2 {
		t.Errorf("%+v", got)
	}
	s = mustOpen(t, path)
	if s.Recovery() == nil || len(s.Snapshot().Resources) != 3 || s.Snapshot().Serial != 3 {
		t.Errorf("%+v %+v", s.Recovery(), s.Snapshot())
	}
	ok(t, s.Close())
}

func TestCopies_DamagedIsReported(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	recordRun(t, path, "a")
	copies, err := Copies(File(path))
	ok(t, err)
	ok(t, os.WriteFile(copies[1].Path, []byte(`{"format":1`), 0o600))
	ok(t, os.WriteFile(filepath.Join(filepath.Dir(copies[0].Path), "notes.txt"), nil, 0o600))
	copies, err = Copies(File(path))
	ok(t, err)
	if len(copies) != 2 || copies[0].Err != nil || !errors.Is(copies[1].Err, ErrDamaged) {
		t.Errorf("%+v", copies)
	}
	_, err = Restore(t.Context(), File(path), 1, Options{})
	refused(t, err, ErrDamaged)
	if _, _, err := Load(File(path)); err != nil {
		t.Errorf("a refusal changed the state: %v", err)
	}
}

// An apply that runs meanwhile removes the oldest copy: the list of a link to nothing shows it.
func TestCopies_RemovedMeanwhileIsLeftOut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	recordRun(t, path, "a")
	copies, err := Copies(File(path))
	ok(t, err)
	ok(t, os.Remove(copies[0].Path), os.Symlink("nothing", copies[0].Path))
	left, err := Copies(File(path))
	ok(t, err)
	if len(left) != len(copies)-1 || left[0].Serial != copies[1].Serial {
		t.Errorf("%+v", left)
	}
}

// TestCopies_NoneIsReported: the run is recorded, and that no copy could be kept is an
// error of its own.
func TestCopies_NoneIsReported(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	place := &faultyPlace{Place: File(path)}
	s, err := Open(t.Context(), place, Options{})
	ok(t, err)
	j := mustBegin(t, s, "p")
	ok(t, j.Valid("a", entry(`{}`)))
	place.failCopy = true
	refused(t, j.Finish(StatusOK), ErrNoCopy)
	ok(t, s.Close())
	got, rec, err := Load(File(path))
	if err != nil || rec != nil || len(got.Resources) != 1 {
		t.Errorf("%+v %+v %v", got, rec, err)
	}
}

func TestCopies_DanglingLinkIsFollowed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ok(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	link := filepath.Join(dir, "s.json")
	ok(t, os.Symlink("real/state.json", link))
	recordRun(t, link, "a")
	if target, err := os.Readlink(link); err != nil || target != "real/state.json" {
		t.Errorf("the link was replaced: %q %v", target, err)
	}
	s, _, err := Load(File(filepath.Join(dir, "real", "state.json")))
	if err != nil || len(s.Resources) != 1 {
		t.Errorf("%+v %v", s, err)
	}
	entries, err := os.ReadDir(dir)
	ok(t, err)
	if got := slices.Collect(func(yield func(string) bool) {
		for _, e := range entries {
			if !yield(e.Name()) {
				return
			}
		}
	}); len(got) != 2 {
		t.Errorf("beside the link: %v", got)
	}
}

// Repairs, of which there may be many each day, push out no copy that a person may want
// back.
func TestCopies_RepairsPushOutNone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	repair := func() {
		s, err := Open(t.Context(), File(path), Options{Command: actions.WatchCommand})
		ok(t, err)
		j := mustBegin(t, s, NewID())
		ok(t, j.Valid("repaired", entry(`{}`)), j.Finish(StatusOK), s.Close())
	}
	for i := range 3 {
		recordRun(t, path, fmt.Sprintf("r%d", i))
	}
	for range MaxCopies + 1 {
		repair()
	}
	recordRun(t, path, "r3")
	repair()
	repair()
	copies, err := Copies(File(path))
	ok(t, err)
	var serials []uint64
	for _, c := range copies {
		serials = append(serials, c.Serial)
	}
	const repaired = 3 + MaxCopies + 1
	if want := []uint64{0, 1, 2, 3, repaired, repaired + 1, repaired + 3}; !slices.Equal(serials, want) {
		t.Errorf("there are copies of %v, want %v", serials, want)
	}
}
