package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"deployster/internal/base/sharedlog"
)

// Suite runs all tests. open returns another connection to the same store each time.
// Objects below the prefix t/ belong to the suite. times is how often many goroutines
// create the same object concurrently; with 1 the slow tests are left out.
func Suite(t *testing.T, times int, open func(*testing.T) sharedlog.Store) {
	t.Run("creates, lists, gets and deletes", func(t *testing.T) { objects(t, open(t)) })
	t.Run("an object has one creator", func(t *testing.T) { oneCreator(t, times, open) })
	if times > 1 {
		t.Run("lists all that there is", func(t *testing.T) { complete(t, open(t)) })
	}
	t.Run("a canceled call ends", func(t *testing.T) { canceled(t, open(t)) })
	t.Run("large objects", func(t *testing.T) { large(t, open(t)) })
	t.Run("the probe", func(t *testing.T) {
		if err := sharedlog.New(open(t), sharedlog.DefaultTiming()).Probe(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func objects(t *testing.T, s sharedlog.Store) {
	ctx := t.Context()
	if _, err := s.Get(ctx, "t/none/1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an object that is not there gives %v", err)
	}
	if keys, err := s.List(ctx, "t/none/"); err != nil || len(keys) > 0 {
		t.Errorf("where nothing is there are %q, %v", keys, err)
	}
	if err := s.Delete(ctx, "t/none/1"); err != nil {
		t.Errorf("deleting nothing: %v", err)
	}
	first, second := []byte("first\n\x00\xff"), []byte("second")
	if err := s.Create(ctx, "t/a/0000000000000001", first); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(ctx, "t/a/0000000000000001", second); !errors.Is(err, sharedlog.ErrExists) {
		t.Errorf("creating it again gives %v", err)
	}
	if data, err := s.Get(ctx, "t/a/0000000000000001"); err != nil || !bytes.Equal(data, first) {
		t.Errorf("it holds %q, %v", data, err)
	}
	if err := s.Create(ctx, "t/b/1-x.000", nil); err != nil {
		t.Fatal(err)
	}
	if data, err := s.Get(ctx, "t/b/1-x.000"); err != nil || len(data) > 0 {
		t.Errorf("an empty object holds %q, %v", data, err)
	}
	if keys, err := s.List(ctx, "t/a/"); err != nil || !slices.Equal(keys, []string{"t/a/0000000000000001"}) {
		t.Errorf("there are %q, %v", keys, err)
	}
	for range 2 {
		if err := s.Delete(ctx, "t/a/0000000000000001"); err != nil {
			t.Error(err)
		}
	}
	if keys, err := s.List(ctx, "t/a/"); err != nil || len(keys) > 0 {
		t.Errorf("after it was deleted there are %q, %v", keys, err)
	}
	if err := s.Create(ctx, "t/a/0000000000000001", second); err != nil {
		t.Errorf("creating it anew: %v", err)
	}
}

func oneCreator(t *testing.T, times int, open func(*testing.T) sharedlog.Store) {
	const creators = 64
	stores := []sharedlog.Store{open(t), open(t), open(t), open(t)}
	for round := range times {
		key := fmt.Sprintf("t/race/%016d", round+1)
		var wg sync.WaitGroup
		errs := make([]error, creators)
		begin := make(chan struct{})
		for i := range creators {
			wg.Go(func() {
				<-begin
				errs[i] = stores[i%len(stores)].Create(t.Context(), key, fmt.Appendf(nil, "%d", i))
			})
		}
		close(begin)
		wg.Wait()
		winner := -1
		for i, err := range errs {
			if err == nil && winner >= 0 {
				t.Fatalf("%s: both %d and %d have created it", key, winner, i)
			} else if err == nil {
				winner = i
			} else if !errors.Is(err, sharedlog.ErrExists) {
				t.Fatalf("%s: %v", key, err)
			}
		}
		if data, err := stores[0].Get(t.Context(), key); err != nil || winner < 0 || string(data) != fmt.Sprint(winner) {
			t.Fatalf("%s holds %q, and %d has created it: %v", key, data, winner, err)
		}
	}
}

// complete checks that List returns every object that was created before List began,
// among many objects and while others are deleted.
func complete(t *testing.T, s sharedlog.Store) {
	ctx := t.Context()
	const count = 1100 // more than a page of S3
	var wg sync.WaitGroup
	for lane := range 16 {
		wg.Go(func() {
			for n := lane; n < count; n += 16 {
				if err := s.Create(ctx, fmt.Sprintf("t/many/%016d", n), []byte("x")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	keys, err := s.List(ctx, "t/many/")
	if err != nil || len(keys) != count || !slices.IsSorted(keys) {
		t.Fatalf("%d of %d are listed, sorted %v: %v", len(keys), count, slices.IsSorted(keys), err)
	}
	for n := range count / 10 {
		if err := s.Delete(ctx, keys[n]); err != nil {
			t.Fatal(err)
		}
		if n%10 == 0 {
			now, err := s.List(ctx, "t/many/")
			if err != nil || !slices.Equal(now, keys[n+1:]) {
				t.Fatalf("after %d were deleted %d are listed: %v", n+1, len(now), err)
			}
		}
	}
}

func canceled(t *testing.T, s sharedlog.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Create(ctx, "t/canceled", []byte("x")); err == nil || errors.Is(err, sharedlog.ErrExists) {
		t.Errorf("creating gives %v", err)
	}
	if err := s.Create(t.Context(), "t/there", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if data, err := s.Get(ctx, "t/there"); !errors.Is(err, context.Canceled) {
		t.Errorf("getting gives %q, %v", data, err)
	}
	if keys, err := s.List(ctx, "t/"); !errors.Is(err, context.Canceled) {
		t.Errorf("listing gives %q, %v", keys, err)
	}
	if err := s.Delete(ctx, "t/there"); !errors.Is(err, context.Canceled) {
		t.Errorf("deleting gives %v", err)
	}
}

func large(t *testing.T, s sharedlog.Store) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 8<<20/16)
	if err := s.Create(t.Context(), "t/large", data); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get(t.Context(), "t/large"); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes came back of %d: %v", len(got), len(data), err)
	}
}
