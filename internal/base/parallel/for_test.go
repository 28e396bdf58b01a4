package parallel

import (
	"sync/atomic"
	"testing"
)

// Each thing is dealt with once, however many there are.
func TestFor(t *testing.T) {
	for _, n := range []int{0, 1, 99, 100, 201, 12345} {
		seen := make([]atomic.Int32, n)
		For(n, func(from, to int) {
			for i := from; i < to; i++ {
				seen[i].Add(1)
			}
		})
		for i := range seen {
			if got := seen[i].Load(); got != 1 {
				t.Fatalf("of %d, number %d was dealt with %d times", n, i, got)
			}
		}
	}
}

// A panic in a part comes back to who shared the work out, who may be prepared.
func TestPanic(t *testing.T) {
	for _, n := range []int{1, 1000} {
		func() {
			defer func() {
				if p := recover(); p != "the last" {
					t.Errorf("of %d: %v", n, p)
				}
			}()
			For(n, func(_, to int) {
				if to == n {
					panic("the last")
				}
			})
		}()
	}
}
