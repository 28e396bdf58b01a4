package state

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/internal/base/encryption"
	"deployster/internal/base/sharedlog"
	"deployster/internal/runtime/runner"
	"deployster/state/place"
)

// machine is a computer that uses a shared state: its own directory and claims, and a
// network that can be cut.
type machine struct {
	name    string
	kind    storeKind
	root    opener
	claims  sharedlog.Presence
	pending string

	mu  sync.Mutex
	cut bool
}

func newMachine(t *testing.T, name string, kind storeKind, root opener) *machine {
	return &machine{name: name, kind: kind, root: root, claims: sharedlog.Presence(t.TempDir()), pending: filepath.Join(t.TempDir(), "pending")}
}

var errCut = errors.New("the network is gone")

// network is the store as a machine reaches it.
type network struct {
	sharedlog.Store
	m *machine
}

func (n network) away() error {
	n.m.mu.Lock()
	defer n.m.mu.Unlock()
	if n.m.cut {
		return errCut
	}
	return nil
}

func (n network) Create(ctx context.Context, key string, data []byte) error {
	if err := n.away(); err != nil {
		return err
	}
	return n.Store.Create(ctx, key, data)
}

func (n network) Get(ctx context.Context, key string) ([]byte, error) {
	if err := n.away(); err != nil {
		return nil, err
	}
	return n.Store.Get(ctx, key)
}

func (n network) List(ctx context.Context, prefix string) ([]string, error) {
	if err := n.away(); err != nil {
		return nil, err
	}
	return n.Store.List(ctx, prefix)
}

func (m *machine) setCut(kind bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cut = kind
}

// place is where the state lies, as a command on the machine sees it.
func (m *machine) place() *Remote {
	return &Remote{URL: "dir:///shop", Machine: m.name, Pending: m.pending, Claims: m.claims,
		Connect: func() (*sharedlog.Log, error) {
			// A busy machine may be silent for half a second.
			return sharedlog.New(network{m.root(), m}, sharedlog.Timing{Gone: 500*time.Millisecond + m.kind.slow*200*time.Millisecond,
				Patience: m.kind.slow * 200 * time.Millisecond, Call: m.kind.slow * time.Second, Poll: 10 * time.Millisecond}), nil
		}}
}

func (m *machine) open(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), m.place(), o)
	ok(t, err)
	return s
}

// die ends a store as a process that is killed does: its locks go, and nothing else.
func die(t *testing.T, m *machine, s *Store) {
	t.Helper()
	if s.journal != nil {
		ok(t, s.journal.log.Close())
	}
	ok(t, os.RemoveAll(string(m.claims))) // another machine knows nothing of them anyway
}

func two(t *testing.T, kind storeKind) (a, b *machine) {
	root := kind.empty(t)
	return newMachine(t, "a", kind, root), newMachine(t, "b", kind, root)
}

var waits = Options{Command: "test", Wait: 10 * time.Second}

func remoteIsOneStateForAll(t *testing.T, kind storeKind) {
	a, b := two(t, kind)
	s := a.open(t, Options{Command: "apply"})
	if _, err := Open(t.Context(), b.place(), Options{}); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "state unlock") {
		t.Errorf("a second machine is told %v", err)
	}
	j := mustBegin(t, s, "p")
	ok(t, j.ActionStarted(Start{Address: "x", Action: "make", Key: "k"}), j.ActionEnded("x", "make", End{}), j.Valid("x", entry(`{"n":1}`)))
	got, rec, err := Load(b.place())
	if err != nil || rec == nil || len(got.Resources) != 1 {
		t.Errorf("what is recorded so far is %+v, %+v, %v", got, rec, err)
	}
	if who, at := place.InUse(b.place()); !at || !strings.Contains(who, "apply") {
		t.Errorf("it is in use by %q %v", who, at)
	}
	ok(t, j.Finish(StatusOK), s.Close())
	if left := sharedlog.Left(a.pending, s.snapshot.Lineage); len(left) > 0 {
		t.Errorf("pending files are left: %q", left)
	}
	if _, at := place.InUse(b.place()); at {
		t.Error("it is still in use")
	}
	s = b.open(t, Options{})
	if got := s.Snapshot(); got.Serial != 1 || len(got.Resources) != 1 || s.Recovery() != nil {
		t.Errorf("the other machine has %+v, %+v", got, s.Recovery())
	}
	ok(t, s.Close())
	if keys, err := a.root().List(t.Context(), "log/"); err != nil || len(keys) > 6 {
		t.Errorf("it is not compacted: %q, %v", keys, err)
	}
}

func remoteCopies(t *testing.T, kind storeKind) {
	a, b := two(t, kind)
	for range 4 {
		s := a.open(t, Options{})
		ok(t, mustBegin(t, s, NewID()).Finish(StatusOK), s.Close())
	}
	copies, err := Copies(b.place())
	if err != nil || len(copies) != 5 || copies[4].Serial != 4 || copies[0].Serial != 0 {
		t.Fatalf("copies: %+v, %v", copies, err)
	}
	out, err := Restore(t.Context(), b.place(), 2, Options{})
	if err != nil || out.Snapshot.Serial != 5 {
		t.Fatalf("restored: %+v, %v", out, err)
	}
	if got, _, err := Load(a.place()); err != nil || got.Serial != 5 || len(got.Applied) != 2 {
		t.Errorf("after that it is %+v, %v", got, err)
	}
}

func remoteIsEncrypted(t *testing.T, kind storeKind) {
	a, b := two(t, kind)
	keys := newKeys(t).ring(encryption.Encrypt)
	s := a.open(t, Options{Keys: keys})
	j := mustBegin(t, s, "p")
	ok(t, j.ActionStarted(Start{Address: "x", Action: "make", Key: "k"}), j.Valid("x", entry(`{"n":"canary-4711"}`)))
	if got, _, err := Load(b.place(), keys); err != nil || len(got.Resources) != 1 {
		t.Errorf("%+v %v", got, err)
	}
	ok(t, j.Finish(StatusOK), s.Close())
	store := a.root()
	facts, err := store.List(t.Context(), "log/")
	states, err2 := store.List(t.Context(), "state/")
	ok(t, err, err2)
	objects := slices.Concat(facts, states)
	for _, key := range objects {
		data, err := store.Get(t.Context(), key)
		ok(t, err)
		if strings.Contains(string(data), "canary-4711") {
			t.Errorf("%s holds what is to be encrypted", key)
		}
	}
	if len(objects) < 3 {
		t.Errorf("there are only %q", objects)
	}
	ok(t, store.Close())
}

// A machine that was killed is taken over by another, with all that it has recorded.
// What it was doing may still run there.
func remoteTakeoverOfADeadMachine(t *testing.T, kind storeKind) {
	a, b := two(t, kind)
	dead := a.open(t, Options{Command: "apply"})
	j := mustBegin(t, dead, "p")
	far := entry(`{"n":1}`) // what is on a host is told there to whoever has the state
	far.State, far.Settings.Host = nil, &runner.Host{Name: "web", Address: "web"}
	ok(t, j.ActionStarted(Start{Address: "x", Action: "make", Key: "kx"}), j.ActionEnded("x", "make", End{}), j.Valid("x", entry(`{"n":1}`)),
		j.ActionStarted(Start{Address: "y", Action: "make", Key: "ky"}), j.ActionStarted(Start{Address: "z", Action: "make", Key: "kz", Incomplete: &far}))
	die(t, a, dead)
	s := b.open(t, waits)
	got := s.Snapshot()
	if len(got.Resources) != 2 || len(got.Unknown()) != 2 || got.Unsettled["z"].Held || s.Recovery() == nil {
		t.Errorf("the next one has %+v, %+v", got, s.Recovery())
	}
	if held := got.OnHold(b.place()); len(held) != 1 || held[0] != "y" {
		t.Errorf("on hold for b: %q", held)
	}
	if held := got.OnHold(a.place()); len(held) != 0 {
		t.Errorf("on hold for the machine itself: %q", held)
	}
	ok(t, s.Close())
	// Back on the machine it is found out how it ended.
	s = a.open(t, waits)
	exit := 0
	ok(t, s.Settle("y", "ky", &exit, nil), s.Settle("z", "kz", &exit, nil), s.Close())
	if got, _, err := Load(b.place()); err != nil || len(got.OnHold(b.place())) != 0 || len(got.Unknown()) != 0 {
		t.Errorf("after that: %+v %v", got, err)
	}
}

// On its own machine the locks of a dead process prove it, and nobody waits.
func remoteTakeoverOfADeadProcess(t *testing.T, kind storeKind) {
	a, b := two(t, kind)
	dead := a.open(t, Options{})
	j := mustBegin(t, dead, "p")
	ok(t, j.ActionStarted(Start{Address: "x", Action: "make", Key: "kx"}))
	ok(t, j.log.Close())
	tip := dead.lock.(interface{ Claim() string }).Claim()
	ok(t, os.Remove(filepath.Join(string(a.claims), tip)), os.WriteFile(filepath.Join(string(a.claims), tip), nil, 0o600)) // its lock is gone
	s := a.open(t, Options{})
	if got := s.Snapshot(); len(got.Unknown()) != 1 || len(got.OnHold(b.place())) != 0 {
		t.Errorf("it has %+v", got)
	}
	ok(t, s.Close())
}

// A holder that was suspended, and is woken up after another has taken over, starts
// nothing, and loses nothing that it saw.
func remoteSleeperIsRefused(t *testing.T, kind storeKind) {
	a, b := two(t, kind)
	sleeper := a.open(t, Options{Command: "apply"})
	j := mustBegin(t, sleeper, "p")
	ok(t, j.ActionStarted(Start{Address: "w", Action: "make", Key: "kw"}), j.ActionStarted(Start{Address: "x", Action: "make", Key: "kx"}))
	next := b.open(t, waits)
	ok(t, mustBegin(t, next, "q").Finish(StatusOK), next.Close())
	err := j.ActionStarted(Start{Address: "y", Action: "make", Key: "ky"})
	refused(t, err, ErrBroken)
	if !errors.Is(err, sharedlog.ErrTaken) {
		t.Errorf("it is told %v", err)
	}
	refused(t, j.ActionEnded("x", "make", End{}), ErrBroken)
	refused(t, j.ActionEnded("w", "make", End{}), ErrBroken)
	if err := j.Finish(StatusError); err == nil {
		t.Error("it has saved a state")
	}
	ok(t, sleeper.Close())
	was, _, err := Load(b.place())
	if err != nil || len(was.OnHold(b.place())) != 2 || was.Unsettled["y"].Actions != nil {
		t.Errorf("the state is %+v, %v", was, err)
	}
	// The next command on its machine brings in how both ended, and writes the state once.
	s := a.open(t, waits)
	got := s.Snapshot()
	if u := got.Unsettled["x"]; len(u.Open()) != 0 || len(u.Actions) != 1 || *u.Actions[0].Exit != 0 || u.Held {
		t.Errorf("x is %+v", u)
	}
	if len(got.Unsettled["w"].Open()) != 0 || got.Serial != was.Serial+1 {
		t.Errorf("w is %+v, the serial %d after %d", got.Unsettled["w"], got.Serial, was.Serial)
	}
	ok(t, s.Close())
	if left := sharedlog.Left(a.pending, got.Lineage); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// A store that is away for a while is waited for; one that stays away costs nothing
// but the time until it is back.
func remoteNetworkIsCut(t *testing.T, kind storeKind) {
	a, b := two(t, kind)
	s := a.open(t, Options{})
	j := mustBegin(t, s, "p")
	ok(t, j.ActionStarted(Start{Address: "x", Action: "make", Key: "kx"}))
	a.setCut(true)
	go func() {
		time.Sleep(100 * time.Millisecond)
		a.setCut(false)
	}()
	ok(t, j.ActionEnded("x", "make", End{}), j.Valid("x", entry(`{}`)), j.ActionStarted(Start{Address: "y", Action: "make", Key: "ky"}))
	a.setCut(true)
	refused(t, j.ActionEnded("y", "make", End{}), ErrBroken)
	refused(t, j.Valid("y", entry(`{"y":1}`)), ErrBroken)
	refused(t, j.ActionStarted(Start{Address: "z", Action: "make", Key: "kz"}), ErrBroken)
	if err := j.Finish(StatusError); err == nil {
		t.Error("it has saved a state")
	}
	ok(t, s.Close())
	a.setCut(false)
	got, _, err := Load(b.place())
	if err != nil || len(got.Resources) != 1 || len(got.Unknown()) != 1 {
		t.Errorf("others see %+v, %v", got, err)
	}
	s = a.open(t, waits)
	// That z was to be started is in the pending file, and that it was not is nowhere:
	// this machine finds that out, as after a crash.
	if got = s.Snapshot(); len(got.Resources) != 2 || strings.Join(got.Unknown(), " ") != "z" || len(got.Unsettled) != 1 {
		t.Errorf("the next one here has %q, unsettled %+v", got.Unknown(), got.Unsettled)
	}
	ok(t, s.Close())
}

func remoteUnlockEndsAClaim(t *testing.T, kind storeKind) {
	a, b := two(t, kind)
	s := a.open(t, Options{})
	j := mustBegin(t, s, "p")
	at := b.place()
	at.Take = s.lock.(interface{ Claim() string }).Claim()
	other, err := Open(t.Context(), at, Options{})
	ok(t, err)
	refused(t, j.ActionStarted(Start{Address: "x", Action: "make", Key: "k"}), ErrBroken)
	ok(t, other.Close(), s.Close())
}

// leaping is a clock of a machine that is suspended for a minute when it is told to.
type leaping struct {
	sharedlog.System
	ahead *time.Duration
}

func (c leaping) Now() time.Duration { return c.System.Now() + *c.ahead }

// hooked is a store that does something after each object that it has created.
type hooked struct {
	sharedlog.Store
	after func()
}

func (h hooked) Create(ctx context.Context, key string, data []byte) error {
	err := h.Store.Create(ctx, key, data)
	h.after()
	return err
}

// A machine that is suspended between an intent and its action finds out that it was
// taken over before it acts.
func remoteLooksAgainAfterASuspension(t *testing.T, kind storeKind) {
	a, b := two(t, kind)
	var ahead time.Duration
	after := func() {}
	at := a.place()
	at.Connect = func() (*sharedlog.Log, error) {
		l := sharedlog.New(hooked{a.root(), func() { after() }}, sharedlog.Timing{Gone: 100 * time.Millisecond, Patience: time.Second,
			Call: kind.slow * time.Second, Poll: 10 * time.Millisecond})
		l.Clock = leaping{ahead: &ahead}
		return l, nil
	}
	s, err := Open(t.Context(), at, Options{})
	ok(t, err)
	j := mustBegin(t, s, "p")
	after = func() { // the intent is in the log, and its answer comes a minute later
		after = func() {}
		next := b.open(t, waits)
		ok(t, next.Close())
		ahead = time.Minute
	}
	refused(t, j.ActionStarted(Start{Address: "x", Action: "make", Key: "k"}), ErrBroken)
	ok(t, s.Close())
}
