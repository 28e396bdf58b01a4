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

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"write", "sync"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.json")
			var log *faulty
			f := disk()
			create := f.createLog
			f.createLog = func(p string) (appender, error) {
				a, err := create(p)
				log = &faulty{appender: a}
				return log, err
			}
			s, err := open(t.Context(), path, Options{}, f)
			ok(t, err)
			j := mustBegin(t, s, "p")
			ok(t, j.ActionStarted("a", "make", "k", nil))
			log.failWrite, log.failSync = name == "write", name == "sync"
			refused(t, j.ActionEnded("a", "make", 0, ""), ErrBroken)
			refused(t, j.Valid("a", entry(`{}`)), ErrBroken)
			refused(t, j.ActionStarted("b", "make", "k", nil), ErrBroken)
			ok(t, j.Finish(StatusError), s.Close())
			got, rec, err := Load(path)
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
	f := disk()
	write, fail := f.write, false
	f.write = func(p string, data []byte) error {
		if fail {
			return syscall.ENOSPC
		}
		return write(p, data)
	}
	s, err := open(t.Context(), path, Options{}, f)
	ok(t, err)
	j := mustBegin(t, s, "p")
	ok(t, j.Valid("a", entry(`{}`)))
	fail = true
	if err := j.Finish(StatusOK); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("finish: %v", err)
	}
	ok(t, s.Close())
	got, rec, err := Load(path)
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
