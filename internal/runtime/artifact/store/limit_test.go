package store

import (
	"strings"
	"testing"
	"time"
)

// What a get has brought is read for no longer than the get may take.
func TestStore_ReadsForNoLongerThanAGet(t *testing.T) {
	t.Parallel()
	l, o := newEnv(t), order("1")
	o.Target.GetTimeout = time.Nanosecond
	if held, err := l.Fetch(t.Context(), o); err == nil || !strings.Contains(err.Error(), "longer than the 1ns that its get may take") {
		t.Errorf("%+v, %v", held, err)
	}
	if list, err := l.List(); len(list) > 0 || err != nil {
		t.Errorf("%+v, %v", list, err)
	}
	l.fetch(t, "1") // and nothing is in the way of who allows more
}
