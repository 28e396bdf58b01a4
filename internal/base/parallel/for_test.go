package parallel

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
)

// Each thing is dealt with once, however many there are.
func TestFor_VisitsEachIndexOnce(t *testing.T) {
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
func TestFor_PassesAPanicToItsCaller(t *testing.T) {
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

// What is given stands where it was asked for, and of errors the first counts.
func TestMap_KeepsTheOrder(t *testing.T) {
	t.Parallel()
	list := make([]int, 5*least)
	for i := range list {
		list[i] = i
	}
	for i, double := range Map(list, func(n int) int { return 2 * n }) {
		if double != 2*i {
			t.Fatalf("%d at %d", double, i)
		}
	}
	early, late := errors.New("early"), errors.New("late")
	got, err := TryMap(list, func(n int) (int, error) { return n, map[int]error{3: early, 4*least + 1: late}[n] })
	if got != nil || err != early {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := TryMap(list, func(n int) (int, error) { return n, nil }); err != nil || !slices.Equal(got, list) {
		t.Errorf("%v, %v", got, err)
	}
}
