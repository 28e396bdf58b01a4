package heap

import "testing"

// A small heap may grow to its bound, a larger one by its share, and each by what
// is spare.
func TestPace(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		live, spare, next uint64
	}{
		{10 * mib, 0, smallHeap},
		{10 * mib, 128 * mib, 138 * mib},
		{100 * mib, 0, 160 * mib},
		{100 * mib, 128 * mib, 228 * mib},
		{1000 * mib, 128 * mib, 1600 * mib},
	} {
		next := c.live + c.live*uint64(pace(c.live, c.spare))/100
		if next > c.next || next < c.next-c.live/100-1 {
			t.Errorf("with %d live and %d spare the next collection is at %d, not at %d", c.live, c.spare, next, c.next)
		}
	}
	if pace(0, 0) != growth {
		t.Errorf("an empty heap: %d", pace(0, 0))
	}
}
