package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deployster/internal/base/sharedlog"
)

// Many machines that want a state at once have it one after the other.
func remoteHasOneHolder(t *testing.T, kind storeKind) {
	root, all := kind.empty(t), sync.WaitGroup{}
	var holders atomic.Int32
	const machines = 24
	for i := range machines {
		m := newMachine(t, fmt.Sprint(i), kind, root)
		all.Go(func() {
			s, err := Open(t.Context(), m.place(), Options{Command: "test", Wait: 2 * time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			if n := holders.Add(1); n != 1 {
				t.Errorf("%d have it", n)
			}
			j, err := s.Begin(NewID(), s.Snapshot().Lineage)
			if err == nil {
				err = j.Finish(StatusOK)
			}
			holders.Add(-1)
			ok(t, err, s.Close())
		})
	}
	all.Wait()
	if got, _, err := Load(newMachine(t, "last", kind, root).place()); err != nil || got.Serial != machines {
		t.Errorf("the serial is %d, %v", got.Serial, err)
	}
}

// Who waits for a state has it soon after it is let go, and a dead holder keeps nobody out.
// make crash takes the times that commands have, and holds them to theirs.
func TestRemote_HandsOverInTime(t *testing.T) {
	timing, exact := sharedlog.DefaultTiming().Faster(20), os.Getenv("DEPLOYSTER_CRASH") == "all"
	if exact {
		timing = sharedlog.DefaultTiming()
	}
	for _, kind := range append(onServers(t), inDir()) {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			root := kind.empty(t)
			claims := sharedlog.Presence(t.TempDir())
			a := &machine{name: "a"}
			at := func(machine string, claims sharedlog.Presence) *Remote {
				return &Remote{URL: "dir:///shop", Machine: machine, Pending: filepath.Join(t.TempDir(), "pending"), Claims: claims,
					Connect: func() (*sharedlog.Log, error) { return sharedlog.New(through(a, machine, root()), timing), nil }}
			}
			open := func(r *Remote, wait time.Duration) *Store {
				s, err := Open(t.Context(), r, Options{Command: "test", Wait: wait})
				ok(t, err)
				return s
			}
			took := func(what string, most time.Duration, do func()) {
				began := time.Now()
				do()
				took := time.Since(began)
				t.Logf("%s: %s", what, took.Round(time.Millisecond))
				if exact && took > most {
					t.Errorf("%s took %s, and may take %s", what, took, most)
				}
			}
			holder := open(at("a", claims), 0)
			took("refused", time.Second, func() {
				if _, err := Open(t.Context(), at("b", sharedlog.Presence(t.TempDir())), Options{Command: "test"}); err == nil {
					t.Error("two have it")
				}
			})
			waits := make(chan *Store)
			go func() { waits <- open(at("b", sharedlog.Presence(t.TempDir())), time.Minute) }()
			time.Sleep(3 * timing.Poll) // it waits
			took("had by the next", 2*time.Second, func() { ok(t, holder.Close()); holder = <-waits })
			ok(t, holder.Close())

			holder = open(at("a", claims), 0)
			claim := holder.lock.(interface{ Claim() string }).Claim()
			ok(t, os.Remove(filepath.Join(string(claims), claim)), os.WriteFile(filepath.Join(string(claims), claim), nil, 0o600)) // its lock is free
			// The one before is not really dead: it says that it is alive until it is closed.
			former := []*Store{holder}
			took("of a dead process of this machine", 2*time.Second, func() { holder = open(at("a", claims), time.Minute) })
			mustBegin(t, holder, "p")
			a.setCut(true)
			took("of a dead machine", 75*time.Second, func() { ok(t, open(at("c", sharedlog.Presence(t.TempDir())), 2*time.Minute).Close()) })
			a.setCut(false)
			for _, f := range append(former, holder) {
				if err := f.Close(); err != nil && !errors.Is(err, sharedlog.ErrTaken) {
					t.Errorf("a former holder is told %v", err)
				}
			}
		})
	}
}

// through is a store as machine a reaches it, whose network can be cut, or another one.
func through(a *machine, name string, s sharedlog.Store) sharedlog.Store {
	if name == a.name {
		return network{s, a}
	}
	return s
}
