package sharedlog_test

import (
	"context"
	"strings"
	"testing"

	"deployster/internal/base/sharedlog"
)

// beside is a store in which something happens before an entry is read for the first time.
type beside struct {
	sharedlog.Store
	first *func()
}

func (s beside) Get(ctx context.Context, key string) ([]byte, error) {
	if do := *s.first; do != nil && strings.HasPrefix(key, "log/") {
		*s.first = nil
		do()
	}
	return s.Store.Get(ctx, key)
}

// Who reads while the log is compacted reads what has become of it.
func TestLog_IsReadDuringACompaction(t *testing.T) {
	t.Parallel()
	store := plain{newWorld(1)}
	write := func() uint64 {
		claim, err := logIn(store).Open(t.Context(), sharedlog.Options{})
		if err != nil {
			t.Fatal(err)
		}
		at, err := claim.Append(sharedlog.Entry{Kind: sharedlog.KindState})
		if err != nil {
			t.Fatal(err)
		}
		if err := claim.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		return at.N
	}
	write()
	var want uint64
	compact := func() { want = write() }
	first := compact
	l := logIn(beside{store, &first})
	if at, err := l.StateAt(t.Context()); err != nil || at != want || want == 0 {
		t.Errorf("the state is at %d, want %d: %v", at, want, err)
	}
	first = compact
	if v, err := l.View(t.Context()); err != nil || v.State.N != want {
		t.Errorf("a view has %+v, want %d: %v", v, want, err)
	}
}
