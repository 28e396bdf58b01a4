package state

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/internal/base/encryption"
	"deployster/internal/base/sharedlog"
	"deployster/state/actions"
)

// The copy that an interrupted apply began with is the state itself in a store. To
// restore it forgets nothing of what the apply recorded.
func remoteRestoreUnderAJournal(t *testing.T, kind storeKind) {
	a, b := two(t, kind)
	for _, id := range []string{"p", "q"} {
		s := a.open(t, Options{})
		j := mustBegin(t, s, id)
		ok(t, j.Valid(id, entry(`{}`)), j.Finish(StatusOK), s.Close())
	}
	dead := a.open(t, Options{Command: "apply"})
	j := mustBegin(t, dead, "died")
	ok(t, j.ActionStarted(Start{Address: "x", Action: "make", Key: "kx"}), j.Valid("r", entry(`{}`)))
	die(t, a, dead)
	_, err := Restore(t.Context(), b.place(), 1, waits)
	refused(t, err, ErrForeign)
	got, err := Restore(t.Context(), b.place(), 2, waits)
	if err != nil || !got.Journal || got.Aside != "" || got.Snapshot.Serial != 2 {
		t.Fatalf("restored: %+v, %v", got, err)
	}
	s := b.open(t, waits)
	now := s.Snapshot()
	if s.Recovery() == nil || len(now.Resources) != 3 || strings.Join(now.OnHold(b.place()), " ") != "x" {
		t.Errorf("after that it is %+v, recovered %+v", now, s.Recovery())
	}
	ok(t, s.Close())
}

// Who takes over and cannot read the state ends with nothing done. What the holder before
// has begun may still run, also for the one after.
func remoteTakeoverThatFails(t *testing.T, kind storeKind) {
	a, b := two(t, kind)
	first, second := newKeys(t), newKeys(t)
	dead := a.open(t, Options{Command: "apply", Keys: first.ring(encryption.Encrypt)})
	j := mustBegin(t, dead, "p")
	ok(t, j.Valid("r", entry(`{}`)), j.Finish(StatusOK))
	j = mustBegin(t, dead, "q")
	ok(t, j.ActionStarted(Start{Address: "x", Action: "make", Key: "kx"}))
	die(t, a, dead)
	wrong := waits
	wrong.Keys = second.ring(encryption.Encrypt)
	if s, err := Open(t.Context(), b.place(), wrong); err == nil {
		t.Fatal("it was opened with the wrong key")
	} else if s != nil || !errors.Is(err, encryption.ErrWrongKey) {
		t.Fatalf("opened with the wrong key: %v", err)
	}
	right := waits
	right.Keys = first.ring(encryption.Encrypt)
	s := b.open(t, right)
	if held := s.Snapshot().OnHold(b.place()); strings.Join(held, " ") != "x" {
		t.Errorf("on hold: %q", held)
	}
	ok(t, s.Close())
	// What is on hold is in the state now. What comes later is held by nobody else.
	s = b.open(t, right)
	j = mustBegin(t, s, "r")
	ok(t, j.ActionStarted(Start{Address: "y", Action: "make", Key: "ky"}), s.Close())
	s = a.open(t, right)
	if held := s.Snapshot().OnHold(newMachine(t, "c", kind, a.root).place()); strings.Join(held, " ") != "x" {
		t.Errorf("on hold for a third machine: %q", held)
	}
	ok(t, s.Close())
}

// Repairs, of which there may be many each day, push no copy out of a store either.
func remoteRepairsPushOutNone(t *testing.T, kind storeKind) {
	a, b := two(t, kind)
	run := func(command string) {
		s := a.open(t, Options{Command: command})
		ok(t, mustBegin(t, s, NewID()).Finish(StatusOK), s.Close())
	}
	run("apply")
	run("apply")
	for range 4 {
		run(actions.WatchCommand)
	}
	run("apply")
	copies, err := Copies(b.place())
	ok(t, err)
	var serials []uint64
	for _, c := range copies {
		serials = append(serials, c.Serial)
		ok(t, c.Err)
	}
	if want := []uint64{0, 1, 2, 6, 7}; !slices.Equal(serials, want) {
		t.Errorf("there are copies of %v, want %v", serials, want)
	}
	objects, err := a.root().List(t.Context(), "state/")
	if ok(t, err); len(objects) != len(serials) {
		t.Errorf("the store has %d objects of states, and %d are named", len(objects), len(serials))
	}
}

// While the store does not answer, each record is on the disk of this machine, and not only
// those on their way: a command that is killed then loses nothing.
func remoteKeepsWhatWaits(t *testing.T, kind storeKind) {
	a, _ := two(t, kind)
	place := a.place()
	connect := place.Connect
	place.Connect = func() (*sharedlog.Log, error) {
		log, err := connect()
		if err == nil {
			log.Timing.Patience = time.Minute
		}
		return log, err
	}
	s, err := Open(t.Context(), place, Options{Command: "apply"})
	ok(t, err)
	j := mustBegin(t, s, "p")
	ok(t, j.ActionStarted(Start{Address: "x", Action: "make", Key: "kx"}), j.ActionStarted(Start{Address: "y", Action: "make", Key: "ky"}))
	a.setCut(true)
	ended := make(chan error, 2)
	for _, addr := range []string{"x", "y"} {
		go func() { ended <- j.ActionEnded(addr, "make", End{}) }()
	}
	path := pendingFile(t, a)
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		data, err := os.ReadFile(path)
		ok(t, err)
		if strings.Count(string(data), `"action-ended"`) == 2 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the pending file has\n%s", data)
		}
	}
	a.setCut(false)
	ok(t, <-ended, <-ended, j.Finish(StatusOK), s.Close())
}

// pendingFile is the one pending file of a machine.
func pendingFile(t *testing.T, m *machine) string {
	t.Helper()
	list, err := os.ReadDir(m.pending)
	if err != nil || len(list) != 1 {
		t.Fatalf("pending: %v, %v", list, err)
	}
	return m.pending + "/" + list[0].Name()
}

// removing is a store in which something happens before a state is read for the first time.
type removing struct {
	sharedlog.Store
	first *func()
}

func (s removing) Get(ctx context.Context, key string) ([]byte, error) {
	if do := *s.first; do != nil && strings.HasPrefix(key, "state/") {
		*s.first = nil
		do()
	}
	return s.Store.Get(ctx, key)
}

// Who reads without a lock while the state that it has found is removed, as a repair removes
// that of the repair before, reads the one that came after.
func TestRemote_IsReadDuringACompaction(t *testing.T) {
	t.Parallel()
	a, b := two(t, inDir())
	kind := func(m *machine, store sharedlog.Store) *Remote {
		at := m.place()
		at.Connect = func() (*sharedlog.Log, error) { return sharedlog.New(store, sharedlog.DefaultTiming()), nil }
		return at
	}
	repair := func() {
		s, err := Open(t.Context(), kind(a, a.root()), Options{Command: actions.WatchCommand})
		ok(t, err)
		ok(t, mustBegin(t, s, NewID()).Finish(StatusOK), s.Close())
	}
	reader := func() *Remote {
		repair()
		first := repair
		return kind(b, removing{b.root(), &first})
	}
	if s, _, err := Load(reader()); err != nil || s.Serial != 2 {
		t.Errorf("it is loaded with the serial %d: %v", s.Serial, err)
	}
	held, err := ReadShared(t.Context(), reader(), Options{})
	if err != nil || held.Snapshot.Serial != 4 {
		t.Fatalf("it is read with %+v: %v", held, err)
	}
	ok(t, held.Close())

	// One whose object is lost for good is not looked for for ever.
	objects, err := a.root().List(t.Context(), "state/")
	ok(t, err)
	for _, key := range objects {
		ok(t, a.root().Delete(t.Context(), key))
	}
	if _, _, err := Load(kind(b, b.root())); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Errorf("a state without its object: %v", err)
	}
}
