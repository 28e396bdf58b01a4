package runnertest

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// early is how long before the end of a program its first line must arrive, which it prints a second before.
const early = 500 * time.Millisecond

func (s suite) live(t *testing.T) {
	spec := s.spec(t, "tick")
	since := time.Duration(0)
	for range 5 { // a busy machine may let everything of one run arrive at its end
		var first time.Time
		spec.Stdout = onFirst(func() { first = time.Now() })
		s.ok(t, spec)
		if first.IsZero() {
			t.Fatal("the first line never came")
		}
		if since = time.Since(first); since >= early {
			break
		}
	}
	if since < early {
		t.Errorf("the first line came only %s before the end; the program prints it 1 s before", since)
	}
	var got strings.Builder
	spec = s.spec(t, "flood", "300000")
	spec.Stdout = writer(func(p []byte) (int, error) {
		time.Sleep(time.Millisecond) // slow, but it gets everything in the end
		return got.Write(p)
	})
	spec.Stderr = writer(func([]byte) (int, error) { return 0, errors.New("a watcher that fails") })
	res := s.ok(t, spec)
	if got.String() != string(res.Stdout) || got.Len() != 300000 {
		t.Errorf("the watcher got %d bytes, the result has %d", got.Len(), len(res.Stdout))
	}
}
