package sharedlog_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"deployster/internal/base/sharedlog"
)

// counted is a store that counts what is read.
type counted struct {
	sharedlog.Store
	gets *atomic.Int64
}

func (s counted) Get(ctx context.Context, key string) ([]byte, error) {
	s.gets.Add(1)
	return s.Store.Get(ctx, key)
}

// seen is what a reader reads.
type seen struct {
	Tip, State   sharedlog.Entry
	Journal, Run string
	Content      string
}

// look reads a log, and counts the objects that were read.
func look(t *testing.T, s sharedlog.Store, kept string) (seen, int) {
	t.Helper()
	var gets atomic.Int64
	l := logIn(counted{s, &gets})
	l.Kept = sharedlog.Kept(kept)
	v, err := l.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := seen{Tip: v.Tip, State: v.State, Journal: string(v.Journal), Run: v.Run}
	out.State.Body = nil
	if v.State.N > 0 {
		content, err := l.FetchPresent(t.Context(), v.State.States[0])
		if err != nil {
			t.Fatal(err)
		}
		out.Content = string(content)
	}
	return out, int(gets.Load())
}

// record writes a state, with records behind it or not, and closes the log or not.
func record(t *testing.T, s sharedlog.Store, content string, journal, ends bool) {
	t.Helper()
	l := logIn(s)
	l.Timing.Gone = time.Nanosecond
	claim, err := l.Open(t.Context(), sharedlog.Options{Dead: func(string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	state, err := claim.Put(1, []byte(content), false)
	if err == nil {
		_, err = claim.Append(sharedlog.Entry{Kind: sharedlog.KindState, States: []sharedlog.State{state}})
	}
	if err == nil && journal {
		_, err = claim.Append(sharedlog.Entry{Kind: sharedlog.KindJournal, Run: "run", Body: []byte(content + " is changed\n")})
	}
	if err == nil && ends {
		err = claim.Close(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Who keeps what was read reads the same as who does not, and nothing twice.
func TestKept_ReadsOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	store, dir := plain{newWorld(1)}, t.TempDir()
	record(t, store, "one", false, true)
	first, gets := look(t, store, dir)
	if first.Content != "one" || gets == 0 {
		t.Fatalf("%+v, of %d objects", first, gets)
	}
	if again, gets := look(t, store, dir); !reflect.DeepEqual(again, first) || gets > 0 {
		t.Errorf("%+v, of %d objects, and before %+v", again, gets, first)
	}
	record(t, store, "two", true, true)
	if second, _ := look(t, store, dir); second.Content != "two" || second.Journal != "two is changed\n" {
		t.Errorf("%+v", second)
	}
	// Only the state is as it was.
	_, all := look(t, store, "")
	if err := os.Remove(filepath.Join(dir, "entries")); err != nil {
		t.Fatal(err)
	}
	if second, gets := look(t, store, dir); second.Content != "two" || gets != all-1 {
		t.Errorf("%+v, of %d objects of %d", second, gets, all)
	}
}

func TestKept_SameAsTheStore(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	store, dir := plain{newWorld(1)}, t.TempDir()
	saved := 0
	for i := range 60 {
		if i == 0 || rnd.IntN(3) == 0 {
			record(t, store, fmt.Sprint("state ", i), rnd.IntN(2) == 0, rnd.IntN(3) > 0)
		}
		if name := filepath.Join(dir, []string{"state", "entries"}[rnd.IntN(2)]); rnd.IntN(3) == 0 {
			damage(t, rnd, name)
		}
		want, all := look(t, store, "")
		got, gets := look(t, store, dir)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, want %+v", got, want)
		}
		if gets < all {
			saved++
		}
	}
	if saved < 20 {
		t.Errorf("only %d reads were shorter", saved)
	}
}

// A store may have been replaced by another one, whose entries have the same numbers.
func TestKept_OfAnotherLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, content := range []string{"one", "two"} {
		store := plain{newWorld(uint64(i))}
		record(t, store, content, false, true)
		if got, _ := look(t, store, dir); got.Content != content {
			t.Errorf("%q, want %q", got.Content, content)
		}
	}
}

// damage changes a bit of a file, or cuts it.
func damage(t *testing.T, rnd *rand.Rand, name string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil || len(data) == 0 {
		return
	}
	if data = bytes.Clone(data); rnd.IntN(2) == 0 {
		data = data[:rnd.IntN(len(data))]
	} else {
		data[rnd.IntN(len(data))] ^= 1 << rnd.IntN(8)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Whoever holds the log reads it whole: what is damaged in the store must be noticed before another state is built on it.
func TestKept_IsNotForWriters(t *testing.T) {
	t.Parallel()
	w := newWorld(1)
	store, dir := plain{w}, t.TempDir()
	record(t, store, "one", false, true)
	look(t, store, dir)
	for key := range w.objects {
		if v, _ := look(t, store, ""); key == fmt.Sprintf("log/%016d", v.State.N) {
			w.objects[key] = []byte("damaged")
			break
		}
	}
	l := logIn(store)
	l.Kept = sharedlog.Kept(dir)
	if _, err := l.Open(t.Context(), sharedlog.Options{}); err == nil {
		t.Error("it was opened")
	}
}
