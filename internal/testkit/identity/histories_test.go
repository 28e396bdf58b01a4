package identity_test

import (
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deployster/internal/testkit/identity"
)

// number is how many of something are tried: as a variable of the environment says, or
// a sample.
func number(t *testing.T, variable string, sample int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return sample
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// families are those that the engine plays: hosts that are nothing but names are for the
// rules alone.
func families() []identity.Family {
	var list []identity.Family
	for _, f := range identity.Families() {
		if f.Name != "hosts" && f.Name != "by config, hosts" {
			list = append(list, f)
		}
	}
	list = append(list, identity.OfTheEngine()...)
	if only := os.Getenv("DEPLOYSTER_ENGINE_HISTORIES_OF"); only != "" {
		list = slices.DeleteFunc(list, func(f identity.Family) bool { return f.Name != only })
	}
	return list
}

// TestEngine_RandomHistories plays the histories of plan/match with the whole engine.
func TestEngine_RandomHistories(t *testing.T) {
	t.Parallel()
	began := time.Now()
	each := number(t, "DEPLOYSTER_ENGINE_HISTORIES", 240) / len(families())
	first := number(t, "DEPLOYSTER_ENGINE_HISTORIES_SEED", 0)
	tried := 0
	for _, fam := range families() {
		var mu sync.Mutex
		found, proper := map[string][]uint64{}, 0
		var next atomic.Int64
		var workers sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			workers.Go(func() {
				for n := next.Add(1) - 1; n < int64(each); n = next.Add(1) - 1 {
					seed := uint64(first) + uint64(n)
					problems, ok := history(t, seed, fam)
					mu.Lock()
					if ok {
						proper++
					}
					for _, p := range problems {
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
			t.Errorf("%s: %s: %d of %d: %d", fam.Name, p, len(seeds), proper, seeds[:min(5, len(seeds))])
		}
		if proper < each/12 {
			t.Errorf("%s: only %d of %d histories are proper ones", fam.Name, proper, each)
		}
	}
	t.Logf("%d histories in %s", tried, time.Since(began).Round(time.Millisecond))
}

// history plays one, and gives what must never be; ok says that it is a proper one.
func history(t *testing.T, seed uint64, fam identity.Family) (problems []string, ok bool) {
	var failed error
	end := func() {}
	h := identity.Start(seed, fam, func(w *identity.World, _ *rand.Rand) identity.Tool {
		var tl *tool
		tl, end, failed = play(w, seed)
		tl.hosted = fam.On("machines")
		return tl
	})
	defer func() { end() }()
	if failed != nil {
		t.Error(failed)
		return nil, false
	}
	if h == nil {
		return nil, false
	}
	h.Run()
	for p := range h.Problems {
		problems = append(problems, p)
	}
	return problems, true
}
