package state

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deployster/internal/base/diag"
	"deployster/internal/base/sharedlog"
)

// Why a shared state cannot be recorded is told in the words of its store, and the same for
// each fact and at the end: it is no fault of a disk.
func TestRemote_ReportsOnceWhyItCannotBeRecorded(t *testing.T) {
	for want, lose := range map[string]func(t *testing.T, a, b *machine){
		"The state was taken over":    func(t *testing.T, _, b *machine) { ok(t, b.open(t, waits).Close()) },
		"The state cannot be reached": func(_ *testing.T, a, _ *machine) { a.setCut(true) },
	} {
		t.Run(want, func(t *testing.T) {
			a, b := two(t, inDir())
			s := a.open(t, Options{})
			j := mustBegin(t, s, "p")
			ok(t, j.ActionStarted(Start{Address: "x", Action: "make", Key: "kx"}))
			lose(t, a, b)
			said := map[string]int{}
			for _, err := range []error{j.ActionEnded("x", "make", End{}), j.ActionStarted(Start{Address: "y", Action: "make", Key: "ky"})} {
				refused(t, err, ErrBroken)
				said[err.Error()]++
			}
			err := j.Finish(StatusError)
			if d, worded := errors.AsType[*diag.Diagnostic](err); !worded || d.Summary != want || strings.Contains(d.Detail, "disk") {
				t.Errorf("it is told %v", err)
			}
			if said[err.Error()]++; len(said) != 1 {
				t.Errorf("it is told in several ways: %v", said)
			}
			ok(t, s.Close())
		})
	}
}

// An entry of a later version is no damage: who cannot read it says so, and writes nothing.
func TestRemote_OfALaterVersion(t *testing.T) {
	a, b := two(t, inDir())
	s := a.open(t, Options{})
	ok(t, mustBegin(t, s, "p").Finish(StatusOK), s.Close())
	store := a.root()
	keys, err := store.List(t.Context(), "log/")
	ok(t, err)
	tip := newestEntry(keys)
	data, err := store.Get(t.Context(), tip)
	ok(t, err)
	sum := regexp.MustCompile(`"sum":"[0-9a-f]*"`)
	later := sum.ReplaceAll(bytes.Replace(data, []byte(`"format":2`), []byte(`"format":3`), 1), []byte(`"sum":"`+strings.Repeat("0", 32)+`"`))
	now := sha256.Sum256(later)
	later = sum.ReplaceAll(later, fmt.Appendf(nil, `"sum":"%x"`, now[:16]))
	ok(t, store.Delete(t.Context(), tip), store.Create(t.Context(), tip, later))
	_, opened := Open(t.Context(), b.place(), Options{})
	_, _, read := Load(b.place())
	for _, err := range []error{opened, read} {
		if refused(t, err, ErrNewer); !strings.Contains(err.Error(), "written by a newer deployster") {
			t.Errorf("it is told %v", err)
		}
	}
	if now, err := store.List(t.Context(), "log/"); err != nil || !slices.Equal(now, keys) {
		t.Errorf("there are %q, and were %q: %v", now, keys, err)
	}
}

// liar is a store that does what it was told not to.
type liar struct{ sharedlog.Store }

func (s liar) Create(ctx context.Context, key string, data []byte) error {
	return errors.Join(s.Delete(ctx, key), s.Store.Create(ctx, key, data))
}

// A state does not begin in a store that does not hold locks.
func TestRemote_StoreDoesNotHoldLocks(t *testing.T) {
	a, _ := two(t, inDir())
	at := a.place()
	at.Connect = func() (*sharedlog.Log, error) { return sharedlog.New(liar{a.root()}, sharedlog.DefaultTiming()), nil }
	_, err := Open(t.Context(), at, Options{})
	if refused(t, err, sharedlog.ErrNoLocks); !strings.Contains(err.Error(), "This store does not hold locks") {
		t.Errorf("it is told %v", err)
	}
	if keys, err := a.root().List(t.Context(), "log/"); err != nil || len(keys) > 0 {
		t.Errorf("there are %q, %v", keys, err)
	}
}
