package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"deployster/internal/base/natural"
)

// Whatever is put and taken in between, the first by name comes first.
func TestReady_GivesTheFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var r ready
		var held []string
		for range 60 {
			if random.IntN(3) > 0 || len(held) == 0 {
				name := fmt.Sprint(random.IntN(40)) // some twice
				r.put(name)
				held = append(held, name)
				natural.Sort(held)
				continue
			}
			if got := r.take(); got != held[0] {
				t.Fatalf("took %q of %q", got, held)
			}
			held = held[1:]
		}
		if got := r.all(); !slices.Equal(got, held) || len(r) != 0 {
			t.Fatalf("%q, not %q", got, held)
		}
	}
}
