package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"deployster/state/place"
)

// faulty is a log whose disk fails from some call on.
type faulty struct {
	place.Appender
	failWrite, failSync bool
}

func (f *faulty) Write(b []byte) (int64, error) {
	if f.failWrite {
		return 0, syscall.ENOSPC
	}
	return f.Appender.Write(b)
}

func (f *faulty) Sync(end int64) error {
	if f.failSync {
		return syscall.EIO
	}
	return f.Appender.Sync(end)
}

// faultyPlace is a place whose writes fail when they are told to.
type faultyPlace struct {
	Place
	failState, failCopy bool
	log                 *faulty // of the journal that was begun last
}

func (p *faultyPlace) Find() (place.Found, error) {
	s, err := p.Place.Find()
	s.Backend = faultyBackend{s.Backend, p}
	return s, err
}

type faultyBackend struct {
	place.Backend
	place *faultyPlace
}

func (b faultyBackend) Write(serial uint64, data []byte) error {
	if b.place.failState {
		return syscall.ENOSPC
	}
	return b.Backend.Write(serial, data)
}

func (b faultyBackend) WriteCopy(serial uint64, data []byte) error {
	if b.place.failCopy {
		return syscall.EROFS
	}
	return b.Backend.WriteCopy(serial, data)
}

func (b faultyBackend) CreateJournal(lineage, run string) (place.Appender, error) {
	a, err := b.Backend.CreateJournal(lineage, run)
	b.place.log = &faulty{Appender: a}
	return b.place.log, err
}

func TestJournal_IsBrokenByAWriteFault(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"write", "sync"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.json")
			at := &faultyPlace{Place: File(path)}
			s, err := Open(t.Context(), at, Options{})
			ok(t, err)
			j := mustBegin(t, s, "p")
			log := at.log
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

// TestStateFile_AFaultKeepsTheJournal: when the state file cannot be replaced, the journal
// stays and holds everything.
func TestStateFile_AFaultKeepsTheJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	at := &faultyPlace{Place: File(path)}
	s, err := Open(t.Context(), at, Options{})
	ok(t, err)
	j := mustBegin(t, s, "p")
	ok(t, j.Valid("a", entry(`{}`)))
	at.failState = true
	if err := j.Finish(StatusOK); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("finish: %v", err)
	}
	ok(t, s.Close())
	got, rec, err := Load(File(path))
	if err != nil || rec == nil || len(got.Resources) != 1 {
		t.Errorf("%+v %+v %v", got, rec, err)
	}
}

func TestJournalsOfARun_GrowWithItsFacts(t *testing.T) {
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
