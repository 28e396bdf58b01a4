package match_test

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// family is a kind of histories: the types that are in them, and what happens.
type family struct {
	name     string
	types    []known
	features string
}

func families() []family {
	all := []known{byIdentity, byConfig, byName, byBoth}
	one := []known{byIdentity}
	return []family{
		{"identity", one, "deps cbd late moved roA ro drift fail target"},
		{"versions", one, "ver"},
		{"two entries of one thing", one, "dup ver"},
		{"replace", one, "replace cbd"},
		{"hosts", one, "hosts deps late moved drift fail target"},
		{"plugs", one, "plugs deps cbd fail"},
		{"a mirror", one, "mirror deps moved fail"},
		{"by config, hosts", []known{byConfig}, "hosts plugs"},
		{"by config", []known{byConfig}, "deps drift"},
		{"by config, selected", []known{byConfig}, "target"},
		{"by name", []known{byName}, "deps drift fail"},
		{"all types", all, "deps cbd late moved drift fail"},
	}
}

// histories is how many are tried; DEPLOYSTER_HISTORIES says another number.
func histories(t *testing.T) uint64 {
	if text := os.Getenv("DEPLOYSTER_HISTORIES"); text != "" {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 20_000
}

// TestMatch_RandomHistories applies random pairs of manifests, and wants that nothing declared
// is destroyed, nothing is left without a word, nothing is said to be complete that
// is not, and nothing waits for itself.
func TestMatch_RandomHistories(t *testing.T) {
	t.Parallel()
	began := time.Now()
	list := families()
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
					h := start(seed, fam)
					if h == nil {
						continue
					}
					h.run()
					mu.Lock()
					proper++
					for p := range h.problems {
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
			t.Errorf("%s: %s: %d of %d, the first of them %d", fam.name, p, len(seeds), proper, seeds[0])
		}
		if proper < int(each/3) {
			t.Errorf("%s: only %d of %d histories are proper ones", fam.name, proper, each)
		}
		if t.Failed() {
			return
		}
	}
	took := time.Since(began)
	t.Logf("%d histories in %s, %.0f a second", tried, took.Round(time.Millisecond), float64(tried)/took.Seconds())
}
