package state

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/internal/base/sharedlog"
)

// A state that moves takes its copies along, and names those that it cannot read.
func TestTakeOver_NamesWhatStays(t *testing.T) {
	t.Parallel()
	local, there := filepath.Join(t.TempDir(), "s.json"), filepath.Join(t.TempDir(), "s.json")
	for _, id := range []string{"a", "b", "c"} {
		recordRun(t, local, id)
	}
	copies, err := Copies(File(local))
	ok(t, err)
	ok(t, os.WriteFile(copies[1].Path, []byte(`{"format":1`), 0o600))
	from, to := mustOpen(t, local), mustOpen(t, there)
	n, stay, err := to.TakeOver(from)
	if err != nil || n != 2 || !slices.Equal(stay, []uint64{1}) {
		t.Errorf("%d copies, %v stay, %v", n, stay, err)
	}
	ok(t, to.Arrived(), from.Close(), to.Close())
	if copies, err = Copies(File(there)); err != nil || len(copies) != 3 || copies[1].Serial != 2 || copies[2].Resources != 3 {
		t.Errorf("there are %+v, %v", copies, err)
	}
}

// What a move that is cut short leaves is used by nobody, and the state goes on where it was,
// until the move is begun again.
func TestTakeOver_Interrupted(t *testing.T) {
	t.Parallel()
	for name, there := range map[string]Place{
		"a file":  File(filepath.Join(t.TempDir(), "s.json")),
		"a store": patient(newMachine(t, "a", inDir(), inDir().empty(t))),
	} {
		t.Run(name, func(t *testing.T) {
			local := filepath.Join(t.TempDir(), "s.json")
			recordRun(t, local, "a")
			recordRun(t, local, "b")
			take := func() *Store {
				from := mustOpen(t, local)
				to, err := Open(t.Context(), there, Options{Arriving: true})
				ok(t, err)
				if n, stay, err := to.TakeOver(from); err != nil || n != int(from.Snapshot().Serial) || len(stay) > 0 {
					t.Errorf("%d copies, %v stay, %v", n, stay, err)
				}
				ok(t, from.Close())
				return to
			}
			ok(t, take().Close())
			_, _, loaded := Load(there)
			_, opened := Open(t.Context(), there, Options{})
			_, shared := ReadShared(t.Context(), there, Options{})
			_, restored := Restore(t.Context(), there, 1, Options{})
			for what, err := range map[string]error{"loaded": loaded, "opened": opened, "read": shared, "restored": restored} {
				if refused(t, err, ErrArrives); err != nil && !strings.Contains(err.Error(), "state move") {
					t.Errorf("it is %s: %v", what, err)
				}
			}
			recordRun(t, local, "c")
			to := take()
			ok(t, to.Arrived(), to.Close())
			if s, _, err := Load(there); err != nil || s.Serial != 3 || len(s.Resources) != 3 {
				t.Errorf("there is %+v, %v", s, err)
			}
			copies, err := Copies(there)
			for _, c := range copies {
				ok(t, c.Err)
			}
			if err != nil || len(copies) != 4 || copies[0].Serial != 0 || copies[3].Resources != 3 {
				t.Errorf("there are %+v, %v", copies, err)
			}
			ok(t, take2(t, local, there))
		})
	}
}

// take2 moves a state once more, which is there already.
func take2(t *testing.T, local string, there Place) error {
	from := mustOpen(t, local)
	to, err := Open(t.Context(), there, Options{Arriving: true})
	ok(t, err)
	_, _, err = to.TakeOver(from)
	return errors.Join(err, to.Arrived(), to.Close(), from.Close())
}

// Who has gone on with what is there does not lose it to a state of the same lineage.
func TestTakeOver_RefusesWhatHasGoneOn(t *testing.T) {
	t.Parallel()
	local, there := filepath.Join(t.TempDir(), "s.json"), filepath.Join(t.TempDir(), "s.json")
	recordRun(t, local, "a")
	data, err := os.ReadFile(local)
	ok(t, err, os.WriteFile(there, data, 0o600))
	recordRun(t, local, "b")
	recordRun(t, there, "c")
	from, to := mustOpen(t, local), mustOpen(t, there)
	_, _, err = to.TakeOver(from)
	refused(t, err, os.ErrExist)
	ok(t, from.Close(), to.Close())
}

// Copies for which there is no room are not counted: they are named.
func TestTakeOver_CountsWhatIsKept(t *testing.T) {
	t.Parallel()
	local, there := patient(newMachine(t, "a", inDir(), inDir().empty(t))), filepath.Join(t.TempDir(), "s.json")
	open := func() *Store {
		s, err := Open(t.Context(), local, Options{})
		ok(t, err)
		return s
	}
	for range 12 {
		s := open()
		ok(t, mustBegin(t, s, NewID()).Finish(StatusOK), s.Close())
	}
	from, to := open(), mustOpen(t, there)
	n, stay, err := to.TakeOver(from)
	if err != nil || n != MaxCopies-1 || !slices.Equal(stay, []uint64{0, 1, 2}) {
		t.Errorf("%d copies, %v stay, %v", n, stay, err)
	}
	ok(t, to.Arrived(), to.Close(), from.Close())
	if copies, err := Copies(File(there)); err != nil || len(copies) != n+1 {
		t.Errorf("there are %d copies, %v", len(copies), err)
	}
}

// patient is where the state of a machine lies, with the times that commands have.
func patient(m *machine) *Remote {
	at := m.place()
	at.Connect = func() (*sharedlog.Log, error) { return sharedlog.New(m.root(), sharedlog.DefaultTiming()), nil }
	return at
}
