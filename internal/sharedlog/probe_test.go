package sharedlog_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"deployster/internal/sharedlog"
	"deployster/internal/stores/dir"
)

// liar is a store that breaks one promise.
type liar struct {
	sharedlog.Store
	overwrites, silent, forgetful bool
}

func (s liar) Create(ctx context.Context, key string, data []byte) error {
	err := s.Store.Create(ctx, key, data)
	if !errors.Is(err, sharedlog.ErrExists) {
		return err
	}
	if s.overwrites {
		if err := errors.Join(s.Store.Delete(ctx, key), s.Store.Create(ctx, key, data)); err != nil {
			return err
		}
	}
	if s.silent {
		return nil
	}
	return sharedlog.ErrExists
}

func (s liar) List(ctx context.Context, prefix string) ([]string, error) {
	if s.forgetful {
		return nil, nil
	}
	return s.Store.List(ctx, prefix)
}

// A store that does not hold locks gets no state: nothing is written to its log.
func TestProbe_RefusesStoresThatLie(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		store  liar
		refuse bool
	}{
		"keeps its promises":       {liar{}, false},
		"overwrites":               {liar{overwrites: true, silent: true}, true},
		"says yes to two":          {liar{silent: true}, true},
		"overwrites, and says no":  {liar{overwrites: true}, true},
		"does not list what is in": {liar{forgetful: true}, true},
	} {
		c.store.Store = dir.New(t.TempDir())
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		timing := sharedlog.DefaultTiming()
		timing.Patience = time.Second
		claim, err := sharedlog.New(c.store, timing).Open(ctx, sharedlog.Options{Probe: true})
		if errors.Is(err, sharedlog.ErrNoLocks) != c.refuse || (err != nil) != c.refuse {
			t.Errorf("a store that %s: %v", name, err)
		}
		if err == nil {
			err = claim.Close(t.Context())
		} else if keys, wrong := c.store.Store.List(t.Context(), "log/"); wrong != nil || slices.Contains(keys, "log/0000000000000001") {
			t.Errorf("a store that %s: %q, %v", name, keys, wrong)
		}
		if err != nil && !c.refuse {
			t.Error(err)
		}
	}
}
