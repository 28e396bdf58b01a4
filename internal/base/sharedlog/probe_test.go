package sharedlog_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deployster/internal/base/sharedlog"
	"deployster/internal/runtime/stores/dir"
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
func TestProbe_RefusesFalseStores(t *testing.T) {
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

// hanging is a store that does not answer some calls about what is probed.
type hanging struct {
	sharedlog.Store
	on string
}

func (s hanging) hang(ctx context.Context, call, key string) error {
	if call != s.on || !strings.HasPrefix(key, "probe/") {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (s hanging) Create(ctx context.Context, key string, data []byte) error {
	return errors.Join(s.hang(ctx, "create", key), s.Store.Create(ctx, key, data))
}

func (s hanging) Get(ctx context.Context, key string) ([]byte, error) {
	if err := s.hang(ctx, "get", key); err != nil {
		return nil, err
	}
	return s.Store.Get(ctx, key)
}

func (s hanging) List(ctx context.Context, prefix string) ([]string, error) {
	if err := s.hang(ctx, "list", prefix); err != nil {
		return nil, err
	}
	return s.Store.List(ctx, prefix)
}

func (s hanging) Delete(ctx context.Context, key string) error {
	return errors.Join(s.hang(ctx, "delete", key), s.Store.Delete(ctx, key))
}

// A store that hangs while it is probed ends the command in the time of its other calls, and
// one that only keeps the probed object is none that lies.
func TestProbe_StoreThatHangs(t *testing.T) {
	for _, on := range []string{"create", "get", "list", "delete"} {
		t.Run(on, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				begun := time.Now()
				claim, err := logIn(hanging{plain{newWorld(1)}, on}).Open(ctx, sharedlog.Options{Probe: true})
				if took := time.Since(begun); took > time.Minute {
					t.Errorf("it took %s", took)
				}
				if err == nil {
					claim.Abandon()
				}
				if on == "delete" {
					if err != nil {
						t.Error(err)
					}
				} else if !errors.Is(err, sharedlog.ErrUnreachable) || !strings.Contains(err.Error(), "whether the store holds locks") {
					t.Errorf("it is told %v", err)
				}
			})
		})
	}
}
