package state

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"deployster/internal/base/sharedlog"
)

// mortal is a store whose process is dead from some call on: it makes no call any
// more, and the last one may have been carried out.
type mortal struct {
	sharedlog.Store
	calls   *atomic.Int64
	dies    int  // at which call; 0 = never
	carried bool // that call is carried out
}

var errDead = errors.New("the process is dead")

func (m mortal) call(do func() error) error {
	call := int(m.calls.Add(1))
	if m.dies == 0 || call < m.dies {
		return do()
	}
	if call == m.dies && m.carried {
		_ = do()
	}
	return fmt.Errorf("%w: %w", sharedlog.ErrDenied, errDead)
}

func (m mortal) Create(ctx context.Context, key string, data []byte) error {
	return m.call(func() error { return m.Store.Create(ctx, key, data) })
}

func (m mortal) Get(ctx context.Context, key string) (data []byte, err error) {
	err = m.call(func() error { data, err = m.Store.Get(ctx, key); return err })
	return data, err
}

func (m mortal) List(ctx context.Context, prefix string) (keys []string, err error) {
	err = m.call(func() error { keys, err = m.Store.List(ctx, prefix); return err })
	return keys, err
}

func (m mortal) Delete(ctx context.Context, key string) error {
	return m.call(func() error { return m.Store.Delete(ctx, key) })
}

// known is what a process knew to be recorded when it died.
type known struct {
	started, ended, valid map[string]bool
	serial                uint64
	open                  bool
}

// work is one run of an apply, as far as its process lives.
func work(t *testing.T, at Place) (k known) {
	k = known{started: map[string]bool{}, ended: map[string]bool{}, valid: map[string]bool{}}
	s, err := Open(t.Context(), at, Options{Command: "apply", Wait: 10 * time.Second})
	if err != nil {
		return k
	}
	k.open, k.serial = true, s.Snapshot().Serial
	defer func() { _ = s.Close() }()
	j, err := s.Begin(NewID(), s.Snapshot().Lineage)
	if err != nil {
		return k
	}
	for _, addr := range []string{"x", "y"} {
		if j.ActionStarted(Start{Address: addr, Action: "make", Key: "k" + addr}) != nil {
			break
		}
		k.started[addr] = true
		if j.ActionEnded(addr, "make", End{}) != nil {
			break
		}
		k.ended[addr] = true
		if j.Valid(addr, entry(`{}`)) != nil {
			break
		}
		k.valid[addr] = true
	}
	if j.Finish(StatusOK) == nil {
		k.serial++
	}
	return k
}

// A process dies before or after each of its calls of the store, and another machine
// goes on: nothing that it knew to be recorded is lost.
func TestRemote_DiesAtEachCall(t *testing.T) {
	for _, kind := range append(onServers(t), inDir()) {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			every := 1
			if kind.slow > 1 && os.Getenv("DEPLOYSTER_CRASH") != "all" {
				every = 19
			}
			for _, carried := range []bool{false, true} {
				first, dies := 1+rand.IntN(every), 0
				for dies = first; diesAt(t, kind, dies, carried); dies += every {
				}
				if dies < 20 {
					t.Errorf("only %d calls were made", dies)
				}
			}
		})
	}
}

// diesAt reports whether there was such a call.
func diesAt(t *testing.T, in storeKind, dies int, carried bool) bool {
	t.Helper()
	root, calls := in.empty(t), atomic.Int64{}
	kind := func(name string, dies int) *Remote {
		return &Remote{URL: "dir:///shop", Machine: name, Pending: filepath.Join(t.TempDir(), "pending"),
			Connect: func() (*sharedlog.Log, error) {
				return sharedlog.New(mortal{Store: root(), calls: &calls, dies: dies, carried: carried},
					sharedlog.Timing{Gone: in.slow * 20 * time.Millisecond, Patience: time.Second, Call: in.slow * time.Second,
						Poll: time.Millisecond}), nil
			}}
	}
	work(t, kind("a", 0)) // there is a state, with a history
	calls.Store(0)
	a := kind("a", dies)
	k := work(t, a)
	reached := int(calls.Load()) >= dies
	for _, machine := range []string{"b", "a"} {
		at := kind(machine, 0)
		if machine == "a" {
			at.Pending = a.Pending
		}
		s, err := Open(t.Context(), at, Options{Command: "apply", Wait: 10 * time.Second})
		if err != nil {
			t.Fatalf("after a death at call %d (carried out: %v) %s cannot open: %v", dies, carried, machine, err)
		}
		now := s.Snapshot()
		if now.Serial < k.serial {
			t.Errorf("call %d (%v): %s has the serial %d, and %d was saved", dies, carried, machine, now.Serial, k.serial)
		}
		for addr := range k.started {
			_, recorded := now.Resources[addr]
			u := now.Unsettled[addr]
			switch {
			case k.valid[addr] && (!recorded || len(u.Open()) > 0):
				t.Errorf("call %d (%v): on %s that %s is valid is lost: %+v", dies, carried, machine, addr, u)
			case k.ended[addr] && len(u.Open()) > 0:
				t.Errorf("call %d (%v): on %s that %s ended is lost", dies, carried, machine, addr)
			case !k.ended[addr] && len(u.Actions) == 0 && now.Serial == k.serial:
				t.Errorf("call %d (%v): on %s that %s was started is lost", dies, carried, machine, addr)
			}
		}
		ok(t, s.Close())
	}
	return reached
}
