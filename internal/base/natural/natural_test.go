package natural

import (
	"fmt"
	"slices"
	"testing"
)

func TestSort_OrdersNumbersByValue(t *testing.T) {
	want := []string{"", "a", "a01", "a1", "a2", "a10", "a10b", "b[1]", "b[2]", "b[10]", "b[100]", "module.m2.x", "module.m10.a"}
	for seed := range 20 {
		got := slices.Clone(want)
		for i := range got {
			j := (i*7 + seed*5) % len(got)
			got[i], got[j] = got[j], got[i]
		}
		Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%q", got)
		}
	}
}

func TestCompare_IsTotal(t *testing.T) {
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprint("r", i), fmt.Sprintf("r%02d", i), fmt.Sprintf("r%d.x", i))
	}
	for _, a := range names {
		for _, b := range names {
			if Compare(a, b) != -Compare(b, a) && (Compare(a, b) < 0) == (Compare(b, a) < 0) {
				t.Errorf("%s and %s: %d and %d", a, b, Compare(a, b), Compare(b, a))
			}
			if (Compare(a, b) == 0) != (a == b) {
				t.Errorf("%s and %s: %d", a, b, Compare(a, b))
			}
			for _, c := range names {
				if Compare(a, b) < 0 && Compare(b, c) < 0 && Compare(a, c) >= 0 {
					t.Errorf("%s, %s, %s", a, b, c)
				}
			}
		}
	}
}
