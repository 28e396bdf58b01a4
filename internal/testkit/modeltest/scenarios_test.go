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

// The environment of the long run: how many scenarios, and from which seed.
const (
	countVariable = "DEPLOYSTER_SCENARIOS"
	seedVariable  = "DEPLOYSTER_SCENARIOS_SEED"
	briefVariable = "DEPLOYSTER_SCENARIOS_BRIEF" // what fails is not made smaller
)

// enough are the scenarios of every run of the tests.
const enough = 300

// TestModel_RandomScenarios runs random scenarios against the engine, and holds all that
// they do to a model.
func TestModel_RandomScenarios(t *testing.T) {
	t.Parallel()
	count, first := number(t, countVariable, enough), number(t, seedVariable, 1)
	began := time.Now()
	total, failed := runMany(t, uint64(first), count, draw, func(done int, seed uint64) {
		if count > enough {
			fmt.Printf("%d scenarios, up to seed %d, %.0f a second\n", done, seed, float64(done)/time.Since(began).Seconds())
		}
	})
	if failed != nil {
		report(t, *failed)
		return
	}
	t.Logf("%d scenarios in %s: %s", count, time.Since(began).Round(time.Millisecond), total)
	if count >= enough && (total.crashes == 0 || total.interrupts == 0 || total.stale == 0 || total.failed == 0 || total.refusals == 0 || total.early == 0 || total.mute == 0 ||
		total.skipped*5 > total.plans) {
		t.Errorf("the scenarios are too dull: %s", total)
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

// runMany runs the scenarios of some seeds, on all processors. It stops at
// the first that fails.
func runMany(t *testing.T, first uint64, count int, draw func(seed uint64) Scenario, progress func(done int, seed uint64)) (stats, *Scenario) {
	var mu sync.Mutex
	var total stats
	var failed *Scenario
	var next, done atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for n := next.Add(1) - 1; n < int64(count); n = next.Add(1) - 1 {
				sc := draw(first + uint64(n))
				got, err := runOnce(sc)
				mu.Lock()
				total.add(got)
				if err != nil && (failed == nil || sc.Seed < failed.Seed) {
					failed = &sc
				}
				stop := failed != nil
				mu.Unlock()
				if stop {
					return
				}
				if d := done.Add(1); d%1000 == 0 {
					progress(int(d), sc.Seed)
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

// runOnce runs a scenario, in a directory of its own.
func runOnce(sc Scenario) (stats, error) {
	dir, err := os.MkdirTemp(memoryDir(), "scenarios-")
	if err != nil {
		return stats{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r, err := newRig(dir)
	if err != nil {
		return stats{}, err
	}
	got, _, err := r.execute(sc)
	return got, err
}

// report shrinks a scenario that fails, and prints it as a test.
func report(t *testing.T, sc Scenario) {
	t.Helper()
	_, why := runOnce(sc)
	if why == nil {
		t.Errorf("the scenario of seed %d has failed, and does so not every time", sc.Seed)
		for range 50 {
			if _, why = runOnce(sc); why != nil {
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
		t.Fatalf("the scenario of seed %d: %v", sc.Seed, rule)
	}
	small := shrink(sc, func(sc Scenario) bool {
		_, err := runOnce(sc)
		var f *failure
		return errors.As(err, &f) && f.label == rule.label
	}, time.Minute)
	for range 20 {
		if _, err := runOnce(small); err != nil {
			why = err
			break
		}
	}
	t.Errorf("the scenario of seed %d: %v\nAs a test:\n\n%s", sc.Seed, rule, goTest(small, why))
}

// runAgain runs a scenario that has failed once.
func runAgain(t *testing.T, sc Scenario) {
	t.Helper()
	for range 3 {
		if _, err := runOnce(sc); err != nil {
			t.Fatalf("%v\n%s", err, goTest(sc, err))
		}
	}
}
