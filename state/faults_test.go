package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// faulty is a log whose disk fails from some call on.
type faulty struct {
	appender
	failWrite, failSync bool
}

func (f *faulty) Write(b []byte) (int64, error) {
	if f.failWrite {
		return 0, syscall.ENOSPC
	}
	return f.appender.Write(b)
}

func (f *faulty) Sync(end int64) error {
	if f.failSync {
		return syscall.EIO
	}
	return f.appender.Sync(end)
}

// faultyPlace is a place whose writes fail when they are told to.
type faultyPlace struct {
	Place
	failState, failCopy bool
	log                 *faulty // of the journal that was begun last
}

func (p *faultyPlace) find() (storage, error) {
	s, err := p.Place.find()
	s.backend = faultyBackend{s.backend, p}
	return s, err
}

type faultyBackend struct {
	backend
	place *faultyPlace
}

func (b faultyBackend) write(data []byte) error {
	if b.place.failState {
		return syscall.ENOSPC
	}
	return b.backend.write(data)
}

func (b faultyBackend) writeCopy(serial uint64, data []byte) error {
	if b.place.failCopy {
		return syscall.EROFS
	}
	return b.backend.writeCopy(serial, data)
}

func (b faultyBackend) createJournal() (appender, error) {
	a, err := b.backend.createJournal()
	b.place.log = &faulty{appender: a}
	return b.place.log, err
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"write", "sync"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.json")
			place := &faultyPlace{Place: File(path)}
			s, err := Open(t.Context(), place, Options{})
			ok(t, err)
			j := mustBegin(t, s, "p")
			log := place.log
			ok(t, j.ActionStarted(Start{Address: "a", Action: "make", Key: "k"}))
			log.failWrite, log.failSync = name == "write", name == "sync"
			refused(t, j.ActionEnded("a", "make", End{}), ErrBroken)
			refused(t, j.Valid("a", entry(`{}`)), ErrBroken)
			refused(t, j.ActionStarted(Start{Address: "b", Action: "make", Key: "k"}), ErrBroken)
			ok(t, j.Finish(StatusError), s.Close())
			got, rec, err := Load(File(path))
			if err != nil || rec != nil || len(got.Resources) != 1 {
				t.Errorf("what happened was not saved: %+v %+v %v", got, rec, err)
			}
			if a, _ := got.WasApplied("p"); len(a.InFlight) != 0 {
				t.Errorf("in flight though never started or ended: %+v", a.InFlight)
			}
		})
	}
}

// TestStateFileFault: when the state file cannot be replaced, the journal
// stays and holds everything.
func TestStateFileFault(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	place := &faultyPlace{Place: File(path)}
	s, err := Open(t.Context(), place, Options{})
	ok(t, err)
	j := mustBegin(t, s, "p")
	ok(t, j.Valid("a", entry(`{}`)))
	place.failState = true
	if err := j.Finish(StatusOK); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("finish: %v", err)
	}
	ok(t, s.Close())
	got, rec, err := Load(File(path))
	if err != nil || rec == nil || len(got.Resources) != 1 {
		t.Errorf("%+v %+v %v", got, rec, err)
	}
}

func TestJournalsOfARunGrowWithItsFacts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	s := mustOpen(t, path)
	j := mustBegin(t, s, "p")
	size := func(n int) int64 {
		for i := range n {
			ok(t, j.Valid(fmt.Sprintf("r%d", i), entry(`{}`)))
		}
		info, err := os.Stat(path + ".journal")
		ok(t, err)
		return info.Size()
	}
	first := size(50)
	if both := size(50); both > 2*first+first/10 {
		t.Errorf("50 facts are %d bytes, 100 are %d: it is not linear", first, both)
	}
	ok(t, j.Finish(StatusOK), s.Close())
}
