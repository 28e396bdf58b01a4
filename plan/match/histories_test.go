package match_test

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"deployster/internal/testkit/identity"
)

// histories is how many are tried; DEPLOYSTER_HISTORIES says another number.
func histories(t *testing.T) uint64 {
	if text := os.Getenv("DEPLOYSTER_HISTORIES"); text != "" {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 5_000
}

// TestMatch_RandomHistories applies random pairs of manifests, and wants that nothing declared
// is destroyed, nothing is left without a word, nothing is said to be complete that
// is not, and nothing waits for itself.
func TestMatch_RandomHistories(t *testing.T) {
	t.Parallel()
	began := time.Now()
	list := identity.Families()
	each := histories(t) / uint64(len(list))
	var tried int
	var mu sync.Mutex
	for _, fam := range list {
		var next uint64
		var workers sync.WaitGroup
		found := map[string][]uint64{}
		proper := 0
		for range runtime.GOMAXPROCS(0) {
			workers.Go(func() {
				for {
					mu.Lock()
					seed := next
					next++
					mu.Unlock()
					if seed >= each {
						return
					}
					h := identity.Start(seed, fam, model)
					if h == nil {
						continue
					}
					h.Run()
					mu.Lock()
					proper++
					for p := range h.Problems {
						found[p] = append(found[p], seed)
					}
					mu.Unlock()
				}
			})
		}
		workers.Wait()
		tried += proper
		for p, seeds := range found {
			slices.Sort(seeds)
			t.Errorf("%s: %s: %d of %d, the first of them %d", fam.Name, p, len(seeds), proper, seeds[0])
		}
		if proper < int(each/3) {
			t.Errorf("%s: only %d of %d histories are proper ones", fam.Name, proper, each)
		}
		if t.Failed() {
			return
		}
	}
	took := time.Since(began)
	t.Logf("%d histories in %s, %.0f a second", tried, took.Round(time.Millisecond), float64(tried)/took.Seconds())
}
