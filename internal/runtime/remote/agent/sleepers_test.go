package agent

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"deployster/internal/runtime/remote"
)

// TestFence_SleepersStartNothing lets holders of a state come one after the other, who were
// suspended at any moment and wake up at any other: whoever has been followed by another
// one on a host starts nothing there, and does not get back in. DEPLOYSTER_FENCES says how
// many histories.
func TestFence_SleepersStartNothing(t *testing.T) {
	t.Parallel()
	count := 20
	if text := os.Getenv("DEPLOYSTER_FENCES"); text != "" {
		var err error
		if count, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	acted, refused := 0, 0
	for seed := range count {
		a, r := sleepers(t, rand.New(rand.NewPCG(uint64(seed), 7)))
		acted, refused = acted+a, refused+r
	}
	t.Logf("%d actions were begun, %d refused", acted, refused)
	if acted < count || refused < count {
		t.Error("too little has happened")
	}
}

// holder is who has the state, or had it.
type holder struct {
	hello remote.Hello
	at    *Machine // nil = he has not spoken to the host yet
}

// sleepers is one history.
func sleepers(t *testing.T, rnd *rand.Rand) (acted, refused int) {
	t.Helper()
	dir, ctx := t.TempDir(), context.Background()
	var all []*holder
	last := -1 // who has spoken to the host as the latest of all
	epoch, turn := int64(1), uint64(0)
	for step := range 40 {
		if len(all) == 0 || rnd.IntN(4) == 0 { // somebody takes the state over
			if turn++; rnd.IntN(2) == 0 {
				epoch++ // the one before has recorded something
			}
			all = append(all, &holder{hello: remote.Hello{Lineage: "l", Epoch: epoch, Run: fmt.Sprint(turn), Store: "s", Turn: turn, Process: fmt.Sprint("holder ", turn)}})
		}
		i := rnd.IntN(len(all))
		h := all[i]
		if h.at == nil || rnd.IntN(5) == 0 { // he connects, or does so again
			at := local(dir)
			_, err := at.Enter(ctx, h.hello)
			if allowed := i >= last; allowed != (err == nil) {
				t.Fatalf("step %d: holder %d of %d, after %d, enters: %v", step, i, len(all), last, err)
			}
			if err != nil {
				refused++
				continue
			}
			h.at, last = at, i
		}
		err := h.at.Acts(ctx, h.hello)
		if allowed := i == last; allowed != (err == nil) {
			t.Fatalf("step %d: holder %d of %d, after %d, acts: %v", step, i, len(all), last, err)
		}
		if err != nil {
			refused++
		} else {
			acted++
		}
	}
	return acted, refused
}
