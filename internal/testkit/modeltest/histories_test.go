package modeltest_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The environment of the long run: how many histories, and from which seed.
const (
	countVariable = "DEPLOYSTER_HISTORIES"
	seedVariable  = "DEPLOYSTER_HISTORIES_SEED"
	briefVariable = "DEPLOYSTER_HISTORIES_BRIEF" // what fails is not made smaller
)

// enough are the histories of every run of the tests.
const enough = 500

// TestHistories lets random histories happen to the engine, and holds all that
// they do to a model.
func TestHistories(t *testing.T) {
	t.Parallel()
	count, first := number(t, countVariable, enough), number(t, seedVariable, 1)
	began := time.Now()
	total, failed := many(t, uint64(first), count, func(done int, seed uint64) {
		if count > enough {
			fmt.Printf("%d histories, up to seed %d, %.0f a second\n", done, seed, float64(done)/time.Since(began).Seconds())
		}
	})
	if failed != nil {
		report(t, *failed)
		return
	}
	t.Logf("%d histories in %s: %s", count, time.Since(began).Round(time.Millisecond), total)
	if count >= enough && (total.crashes == 0 || total.interrupts == 0 || total.stale == 0 || total.failed == 0 || total.refusals == 0 || total.skipped*5 > total.plans) {
		t.Errorf("the histories are too dull: %s", total)
	}
}

func number(t *testing.T, variable string, otherwise int) int {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// many lets the histories of some seeds happen, on all processors. It stops at
// the first that fails.
func many(t *testing.T, first uint64, count int, progress func(done int, seed uint64)) (stats, *History) {
	var mu sync.Mutex
	var total stats
	var failed *History
	var next, done atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for n := next.Add(1) - 1; n < int64(count); n = next.Add(1) - 1 {
				h := draw(first + uint64(n))
				got, err := once(h)
				mu.Lock()
				total.add(got)
				if err != nil && (failed == nil || h.Seed < failed.Seed) {
					failed = &h
				}
				stop := failed != nil
				mu.Unlock()
				if stop {
					return
				}
				if d := done.Add(1); d%1000 == 0 {
					progress(int(d), h.Seed)
				}
			}
		})
	}
	group.Wait()
	return total, failed
}

// memoryDir is a directory in memory, "" where there is none.
func memoryDir() string {
	const dir = "/dev/shm"
	if !exists(dir) {
		return ""
	}
	return dir
}

// once lets a history happen, in a directory of its own.
func once(h History) (stats, error) {
	dir, err := os.MkdirTemp(memoryDir(), "histories-")
	if err != nil {
		return stats{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r, err := newRig(dir)
	if err != nil {
		return stats{}, err
	}
	got, _, err := r.happen(h)
	return got, err
}

// report shrinks a history that fails, and prints it as a test.
func report(t *testing.T, h History) {
	t.Helper()
	_, why := once(h)
	if why == nil {
		t.Errorf("the history of seed %d has failed, and does so not every time", h.Seed)
		for range 50 {
			if _, why = once(h); why != nil {
				break
			}
		}
		if why == nil {
			return
		}
	}
	var rule *failure
	if !errors.As(why, &rule) {
		t.Fatal(why)
	}
	if os.Getenv(briefVariable) != "" {
		t.Fatalf("the history of seed %d: %v", h.Seed, rule)
	}
	small := shrink(h, func(h History) bool {
		_, err := once(h)
		var f *failure
		return errors.As(err, &f) && f.label == rule.label
	}, time.Minute)
	for range 20 {
		if _, err := once(small); err != nil {
			why = err
			break
		}
	}
	t.Errorf("the history of seed %d: %v\nAs a test:\n\n%s", h.Seed, rule, goTest(small, why))
}

// again is a history that has failed once.
func again(t *testing.T, h History) {
	t.Helper()
	for range 3 {
		if _, err := once(h); err != nil {
			t.Fatalf("%v\n%s", err, goTest(h, err))
		}
	}
}
